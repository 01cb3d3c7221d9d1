// Every example, applied as it is, does what its comments promise.
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { annotations } from '../../src/api/keys.ts'
import type { KubeObject } from '../bed/kube.ts'
import { theBed } from '../bed/story.ts'
import { aWorkspaceTemplateApply } from '../given.ts'
import { conditionOf, patience, seeEvent, seeSaying } from '../lives.ts'

const bed = theBed()
const { kube } = bed
const folder = resolve(import.meta.dirname, '../../examples/terraform')
const waiting = ['--timeout=120s']

// The commands in the comments of a file, each without its `kubectl`.
function commandsIn(file: string): readonly string[] {
  const text = readFileSync(join(folder, file), 'utf8')
  return [...text.matchAll(/^# {3}kubectl (?<command>.*)$/gm)].map(({ groups }) => groups?.['command'] ?? '')
}

async function tryOut(file: string) {
  const namespace = await bed.namespace(basename(file, '.yaml'))
  const commands = commandsIn(file)
  return {
    apply: aWorkspaceTemplateApply({ namespace, name: basename(file, '.yaml') }),
    commands,
    // Runs the one that begins so, in the namespace, as a shell would.
    async run(beginning: string, more: readonly string[] = []): Promise<string> {
      const command = commands.find((each) => each.startsWith(beginning))
      if (command === undefined) throw new Error(`no comment of ${file} says kubectl ${beginning}`)
      const args = command
        .replace('examples/terraform', folder)
        .match(/'[^']*'|\S+/g)
        ?.map((each) => each.replaceAll("'", ''))
      return kube.kubectl([...(args ?? []), '--namespace', namespace, ...more])
    },
    leave: async () =>
      kube.kubectl(['delete', 'workspacetemplateapply', '--all', '--namespace', namespace, '--wait=false']),
  }
}

test('each of them is tried here, or in a story of its own', () => {
  const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'))
  expect(files).toEqual(['chain.yaml', 'failing.yaml', 'guarded.yaml', 'hello.yaml'])
})

test('hello greets', async () => {
  const { apply, run, leave } = await tryOut('hello.yaml')
  await run('apply')
  await run('wait', waiting)
  expect(await run('get')).toBe('Hello, world!')
  await leave()
  await kube.seeGone(apply, patience)
}, 300_000)

test('the failing one says why in one line, and is mended as it says', async () => {
  const { apply, run, leave } = await tryOut('failing.yaml')
  await run('apply')
  const failed = await seeSaying(kube, apply, 'Ready', 'TerraformFailed')
  expect(conditionOf(failed, 'Ready')?.message).toMatchInlineSnapshot(
    `"Resource precondition failed (main.tf line 8): A node group has between 1 and 10 nodes, not 100. (the module refuses it by a check of its own: give it what that asks for, in variables of the WorkspaceTemplateApply)"`,
  )
  expect(await run('get')).toMatch(/failing +failing +failing +False +TerraformFailed .*not 100\./)
  await seeEvent(kube, apply, 'TerraformFailed')
  expect(await run('describe')).toMatch(/Warning +TerraformFailed .*A node group has between 1 and 10 nodes, not 100\./)
  await run('patch')
  const mended = await seeSaying(kube, apply, 'Ready', 'Ready')
  expect(mended['status']).toMatchObject({ outputs: { size: 3 } })
  await leave()
  await kube.seeGone(apply, patience)
}, 300_000)

test('the guarded one holds a change until the command that it shows is run', async () => {
  const { apply, run, commands, leave } = await tryOut('guarded.yaml')
  const engineOf = ({ status }: KubeObject) =>
    (status as { readonly outputs?: { readonly engine?: string } } | undefined)?.outputs?.engine
  await run('apply')
  await run('wait', waiting)
  await run('patch')
  const held = await seeSaying(kube, apply, 'Ready', 'ApprovalRequired')
  expect(engineOf(held)).toBe('postgres-16')
  const { message = '' } = conditionOf(held, 'Ready') ?? {}
  expect(message).toMatch(/^the plan has 1 to replace \(terraform_data\.database\)\. To approve: kubectl annotate /)
  expect(await run('get')).toMatch(/guarded +guarded +guarded +False +ApprovalRequired /)
  const [, command = ''] = /To approve: kubectl (?<command>.*)$/.exec(message) ?? []
  // What the comment shows is the same word, with PLAN for the plan.
  expect(commands.at(-1)?.replace('PLAN', '')).toContain(`${annotations.approve}=`)
  await kube.kubectl(command.split(' '))
  const approved = await seeSaying(kube, apply, 'Ready', 'Ready')
  expect(engineOf(approved)).toBe('postgres-17')
  await leave()
  await kube.seeGone(apply, patience)
}, 300_000)
