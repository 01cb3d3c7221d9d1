// Ready binaries that a person already has: CAPT_TOOLS names a folder, and each program found there must be of the
// pinned minor version (any patch), because the tests are true only for what they were written against.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Part, Program } from './parts.ts'

const execute = promisify(execFile)

// The path of the ready program, or undefined when the folder does not hold it.
export async function readyProgram(
  name: string,
  part: Part,
  version: string,
  folder: string,
): Promise<string | undefined> {
  if (part.recipe.from !== 'package') return undefined
  const file = join(folder, name)
  if (!existsSync(file)) return undefined
  const found = await versionOf(file, part.pin, part.recipe.tellsVersion).catch((error: Error) => {
    throw new Error(`CAPT_TOOLS: ${file} does not tell its version: ${error.message.split('\n')[0]}`)
  })
  if (found === undefined || minor(found) !== minor(version)) {
    throw new Error(
      `CAPT_TOOLS: ${file} is ${found ?? 'of an unknown version'}, and ${minor(version)} is needed: put ${name} ${version} there, or remove it and it will be built`,
    )
  }
  return file
}

async function versionOf(file: string, pin: string, tells: Program['tellsVersion']): Promise<string | undefined> {
  if (tells === 'by build info') {
    const { stdout } = await execute('go', ['version', '-m', file])
    return versionIn(stdout.split('\n').find((line) => line.split('\t').includes(pin)))
  }
  const { stdout, stderr } = await execute(file, [...tells], { timeout: 20_000 })
  return versionIn(`${stdout}\n${stderr}`)
}

function versionIn(text = ''): string | undefined {
  const match = text.match(/\bv?(\d+\.\d+\.\d+)/)
  return match ? `v${match[1]}` : undefined
}

function minor(version: string): string {
  return version.split('.').slice(0, 2).join('.')
}
