import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { aFolder } from '../../test/folder.ts'
import type { Workspace } from '../api/workspace.ts'
import { createFolders, createSweep } from './folders.ts'
import type { Inputs } from './inputs.ts'

const uid = '42180608-1506-4965-b46d-0ba23170ca4b'
const workspace: Workspace = {
  apiVersion: 'tf.upbound.io/v1beta1',
  kind: 'Workspace',
  metadata: { name: 'vpc', uid },
  spec: { forProvider: { source: 'Inline', module: '' } },
}
const inputs: Inputs = {
  files: { 'main.tf': '' },
  env: {},
  varArgs: [],
  hasBackendFile: false,
  usesPluginCache: false,
  isLogged: false,
  secrets: [],
}

// Each is a life of the engine over the same root.
function lives(root = aFolder()) {
  const load = async () => ({ code: 0, out: '', err: '', ended: 'byItself' as const })
  const furnished = async () =>
    createFolders({ root, cli: { family: 'tofu', version: '1.12.6' }, given: {}, ours: {}, load }).furnish(
      workspace,
      inputs,
    )
  return { root, furnished }
}

test('a later life reads what the run printed that was cut off', async () => {
  const { furnished } = lives()
  const first = await furnished()
  await first.noteRun('2026-11-16T10:00:00Z')
  writeFileSync(join(first.beside ?? '', 'apply.out'), 'terraform_data.a: Creating...\n')
  const next = await furnished()
  expect(await next.cutOff('2026-11-16T10:00:00Z')).toBe('terraform_data.a: Creating...\n')
})

test('of a run that never began it knows that nothing was printed', async () => {
  const { furnished } = lives()
  await (await furnished()).noteRun('2026-11-16T10:00:00Z')
  expect(await (await furnished()).cutOff('2026-11-16T10:00:00Z')).toBe('')
})

test('what an older run printed is not taken for what the next one did, unless that never began', async () => {
  const { furnished } = lives()
  const { noteRun, cutOff, beside = '' } = await furnished()
  await noteRun('2026-11-16T10:00:00Z')
  writeFileSync(join(beside, 'apply.out'), 'terraform_data.a: Creating...\n')
  await noteRun('2026-11-16T11:00:00Z')
  expect(await cutOff('2026-11-16T11:00:00Z')).toBe('')
  await noteRun('2026-11-16T10:00:00Z', 'terraform_data.a: Creating...\n')
  expect(await cutOff('2026-11-16T10:00:00Z')).toBe('terraform_data.a: Creating...\n')
})

test('a plan is dropped', async () => {
  const { furnished } = lives()
  const { dropPlan, beside = '' } = await furnished()
  writeFileSync(join(beside, 'plan'), 'hush')
  await dropPlan()
  await dropPlan()
  expect(existsSync(join(beside, 'plan'))).toBe(false)
})

test('of a run in another folder it knows nothing', async () => {
  const { furnished } = lives()
  expect(await (await furnished()).cutOff('2026-11-16T10:00:00Z')).toBeUndefined()
  await (await furnished()).noteRun('2026-11-16T09:00:00Z')
  expect(await (await furnished()).cutOff('2026-11-16T10:00:00Z')).toBeUndefined()
})

test('a folder with a state that is nowhere else is not taken away, whoever asks', async () => {
  const { root, furnished } = lives()
  const { folder } = await furnished()
  writeFileSync(join(folder, 'errored.tfstate'), '{}')
  await createSweep(root, () => new Set())(true)
  const load = async () => ({ code: 0, out: '', err: '', ended: 'byItself' as const })
  const folders = createFolders({ root, cli: { family: 'tofu', version: '1.12.6' }, given: {}, ours: {}, load })
  expect(await folders.holdsState(workspace)).toBe(true)
  await folders.remove(workspace)
  expect(existsSync(join(folder, 'errored.tfstate'))).toBe(true)
  rmSync(join(folder, 'errored.tfstate'))
  await folders.remove(workspace)
  expect(existsSync(join(root, uid))).toBe(false)
})

test('where it is not known which Workspaces there are, no folder goes', async () => {
  const { root, furnished } = lives()
  await furnished()
  const sweep = createSweep(root, () => undefined)
  await sweep(true)
  await sweep(false)
  expect(existsSync(join(root, uid))).toBe(true)
})

test('folders of Workspaces that are no more go: at the start at once, later when they were unknown twice', async () => {
  const root = aFolder()
  const other = uid.replace('4', '5')
  const known = new Set([uid])
  const sweep = createSweep(root, () => known)
  for (const each of [uid, other]) mkdirSync(join(root, each))
  await sweep(true)
  expect([existsSync(join(root, uid)), existsSync(join(root, other))]).toEqual([true, false])
  known.clear()
  await sweep(false)
  expect(existsSync(join(root, uid))).toBe(true)
  await sweep(false)
  expect(existsSync(join(root, uid))).toBe(false)
})
