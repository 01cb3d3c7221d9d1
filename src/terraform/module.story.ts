// What we say of modules, OpenTofu says too. One run of it judges all of them, each as a child module of its own.

import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { anyModule, type MadeUpModule, mangled } from '../../test/terraform-modules.ts'
import { realParts } from '../../tools/workshop.ts'
import { shapeOf } from './module.ts'

const many = Number(process.env['CAPT_FUZZ_MODULES'] ?? 60)

type Module = Pick<MadeUpModule, 'format' | 'text'>

interface Diagnostic {
  readonly severity: string
  readonly summary: string
  readonly detail: string
  readonly range?: { readonly filename: string }
}

interface Refusal {
  readonly file: string
  readonly says: string
}

// What OpenTofu has against the modules, called by a root module; each diagnostic names the file it is about.
async function errorsIn(modules: readonly Module[], root: string): Promise<readonly Refusal[]> {
  const { tofu } = await realParts(['tofu'])
  const folder = mkdtempSync(join(tmpdir(), 'capt-modules-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const [index, { format, text }] of modules.entries()) {
    mkdirSync(join(folder, `m${index}`))
    writeFileSync(join(folder, `m${index}`, format === 'HCL' ? 'main.tf' : 'main.tf.json'), text)
  }
  writeFileSync(join(folder, 'main.tf'), root)
  // As `init` would write it.
  const installed = modules.map((_, index) => ({ Key: `m${index}`, Source: `./m${index}`, Dir: `m${index}` }))
  mkdirSync(join(folder, '.terraform/modules'), { recursive: true })
  writeFileSync(
    join(folder, '.terraform/modules/modules.json'),
    JSON.stringify({ Modules: [{ Key: '', Source: '', Dir: '.' }, ...installed] }),
  )
  const { stdout, stderr } = spawnSync(tofu, ['validate', '-json'], {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    env: { PATH: '', HOME: folder },
  })
  expect(stdout, stderr).toMatch(/^\{/)
  const { diagnostics } = JSON.parse(stdout) as { diagnostics: readonly Diagnostic[] }
  return diagnostics
    .filter(({ severity }) => severity === 'error')
    .map(({ summary, detail, range }) => ({ file: range?.filename ?? '', says: `${summary}: ${detail}` }))
}

function callOf(index: number, given: Readonly<Record<string, string>>): string {
  return [
    `module "m${index}" {`,
    `  source = "./m${index}"`,
    ...Object.entries(given).map(([name, value]) => `  ${name} = ${value}`),
    '}',
  ].join('\n')
}

// What no one knows yet is of every type, and not null.
const unknown = 'resource "terraform_data" "unknown" {}'

// The root gives every variable that is required, null to every one that may be null, and asks for every output.
test('what a module declares for us, it declares for OpenTofu', async () => {
  const modules = fc.sample(anyModule(), many)
  const root = modules.flatMap(({ text, format }, index) => {
    const { variables, outputs, complaints } = shapeOf(text, format)
    expect(complaints, text).toEqual([])
    const given = variables
      .filter(({ hasDefault, isNullable }) => !hasDefault || isNullable)
      .map(({ name, isNullable }): [string, string] => [name, isNullable ? 'null' : 'terraform_data.unknown.output'])
    return [
      callOf(index, Object.fromEntries(given)),
      ...outputs.map(({ name }, number) => {
        return `output "m${index}-${number}" {\n  value = module.m${index}.${name}\n  sensitive = true\n}`
      }),
    ]
  })
  expect(await errorsIn(modules, [unknown, ...root].join('\n'))).toEqual([])
})

test('a variable or an output too many, or one too few, is seen by OpenTofu', async () => {
  const module: Module = { format: 'HCL', text: 'variable "a" {\n  nullable = false\n}\noutput "b" { value = 1 }' }
  const root = (given: Record<string, string>, output: string) =>
    `${callOf(0, given)}\noutput "o" { value = module.m0.${output} }`
  expect(await errorsIn([module], root({ a: '1' }, 'b'))).toEqual([])
  expect(await errorsIn([module], root({}, 'b'))).toHaveLength(1)
  expect(await errorsIn([module], root({ a: 'null' }, 'b'))).toHaveLength(1)
  expect(await errorsIn([module], root({ a: '1', c: '1' }, 'b'))).toHaveLength(1)
  expect(await errorsIn([module], root({ a: '1' }, 'c'))).toHaveLength(1)
})

test('a module that we refuse, OpenTofu refuses too', async () => {
  const spoilt = anyModule().chain(({ format, text }) => mangled(text).map((each): Module => ({ format, text: each })))
  const judged = fc
    .sample(spoilt, many * 5)
    .map(({ format, text }) => ({ format, text, complaints: shapeOf(text, format).complaints }))
  const errors = await errorsIn(judged, judged.map((_, index) => callOf(index, {})).join('\n'))
  const refused = new Set(errors.map(({ file }) => Number(/^m(\d+)\//.exec(file)?.[1])))
  const ours = judged.filter(({ complaints }) => complaints.length > 0)
  expect(ours.filter((each) => !refused.has(judged.indexOf(each)))).toEqual([])
  // And of what OpenTofu refuses, we see the better part.
  expect(ours.length).toBeGreaterThan(refused.size / 2)
  expect(refused.size).toBeGreaterThan(many)
})
