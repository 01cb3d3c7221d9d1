// An apply of real OpenTofu is killed: what its lock, its log and its state say, and how everything comes right again.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { theBed } from '../../test/bed/story.ts'
import { aFolder } from '../../test/folder.ts'
import { aClient } from '../../test/reaching.ts'
import { until } from '../../test/until.ts'
import { realParts } from '../../tools/workshop.ts'
import { Secret } from '../api/neighbours.ts'
import { type Workspace, workspaceAPIs } from '../api/workspace.ts'
import { readPlan } from '../terraform/planned.ts'
import { judgeState } from '../terraform/state.ts'
import { openCopy, readCopies } from '../terraform/statecopy.ts'
import { stateKey } from '../terraform/statesecret.ts'
import { backendOf, fetchState } from './backend.ts'
import { inFlight } from './interrupted.ts'
import { thisMachine } from './life.ts'
import { judgeLock, type LockQuestion, readLockError } from './locks.ts'
import type { Run } from './memory.ts'
import { createRecords } from './records.ts'

const bed = theBed()
const workspace = 'tenant.demo'

// The second resource takes its time until there is a file `go`.
const slow = `
resource "terraform_data" "quick" {}
resource "terraform_data" "slow" {
  depends_on = [terraform_data.quick]
  provisioner "local-exec" {
    command = "test -e go || exec sleep 600"
  }
}
`

async function aStage(module: string) {
  const { tofu } = await realParts(['tofu'])
  const namespace = await bed.namespace('killed')
  const folder = aFolder({
    'main.tf': `${module}\nterraform {\n  backend "kubernetes" {}\n}\n`,
    'backend.hcl': 'secret_suffix = "capt"\n',
  })
  const own = { KUBE_CONFIG_PATH: bed.kubeconfig }
  const env = { PATH: '/usr/bin:/bin', HOME: folder, KUBE_NAMESPACE: namespace, ...own }
  const within = { cwd: folder, env: { ...env, TF_WORKSPACE: workspace } }
  const run = (...args: readonly string[]) => spawnSync(tofu, args, { ...within, encoding: 'utf8' })
  const does = (...args: readonly string[]) => {
    const { status, stdout, stderr } = run(...args)
    expect(status, stderr).toBe(0)
    return stdout
  }
  const init = spawnSync(tofu, ['init', '-input=false', '-backend-config=backend.hcl'], { cwd: folder, env })
  expect(init.status, init.stderr.toString()).toBe(0)
  const plan = () => {
    does('plan', '-input=false', '-lock=false', '-no-color', '-out=plan')
    return readPlan(does('show', '-json', 'plan'))
  }
  // In a process group of its own: the command of a provisioner outlives a killed OpenTofu.
  const begin = (log: string): ChildProcess => {
    const out = openSync(log, 'w')
    const child = spawn(tofu, ['apply', '-input=false', '-no-color', 'plan'], {
      ...within,
      detached: true,
      stdio: ['ignore', out, out],
    })
    closeSync(out)
    onTestFinished(() => {
      try {
        process.kill(-(child.pid ?? 0), 'SIGKILL')
      } catch {
        // all of them have ended
      }
    })
    return child
  }
  const backend = await backendOf(folder, env, own)
  expect(backend).toEqual({ is: 'here', namespace, suffix: 'capt' })
  const client = aClient(bed.kubeconfig)
  const key = backend.is === 'here' ? stateKey(backend, workspace) : { name: '' }
  const state = async () => fetchState(client, key)
  const lock = () => readLockError(run('plan', '-input=false', '-no-color').stderr)
  return { namespace, folder, run, does, plan, begin, client, key, state, lock }
}

test('its lock is known to be left behind, what it began is held, and the next apply goes through', async () => {
  const { folder, run, does, plan, begin, lock } = await aStage(slow)
  const planned = plan()
  expect(lock()).toBeUndefined()
  const me = await thisMachine()
  const startedAt = new Date().toISOString()
  const log = join(folder, 'apply.log')
  const child = begin(log)
  const noted: Run = {
    operation: 'apply',
    revision: 'r1',
    startedAt,
    ...me,
    creates: [...planned.create, ...planned.replace],
  }
  await until(
    'it makes the second resource',
    async () => (/slow: Creating/.test(readFileSync(log, 'utf8')) ? true : undefined),
    { withinSeconds: 60 },
  )
  const held = lock()
  expect(held?.operation).toBe('OperationTypeApply')
  if (!held) return
  const judge = (facts: Partial<LockQuestion> = {}) =>
    judgeLock({
      lock: held,
      run: noted,
      me,
      bornAt: new Date().toISOString(),
      ended: [],
      hasEnded: true,
      unlock: undefined,
      command: (id) => id,
      ...facts,
    })
  expect(judge({ hasEnded: false })).toMatchObject({ is: 'somebodys' })

  child.kill('SIGKILL')
  await once(child, 'exit')
  expect(judge()).toEqual({ is: 'releasable', why: 'leftBehind' })
  expect(judge({ run: undefined })).toMatchObject({ is: 'somebodys' })
  expect(judge({ me: { ...me, bootId: 'another' } })).toMatchObject({ is: 'somebodys' })
  expect(judge({ run: undefined, unlock: held.id })).toEqual({ is: 'releasable', why: 'asked' })
  const refused = run('apply', '-input=false', '-no-color', 'plan')
  expect(refused.status).toBe(1)
  expect(readLockError(refused.stderr)).toEqual(held)

  does('force-unlock', '-force', held.id)
  expect(lock()).toBeUndefined()
  // The first one was complete; but unless the kill was late, it is in no state and would be made again too.
  const printed = readFileSync(log, 'utf8')
  expect(printed).toContain('terraform_data.quick: Creation complete')
  const now = plan()
  const again = [...now.create, ...now.replace]
  expect(again).toContain('terraform_data.slow')
  expect(inFlight({ run: noted, log: printed, planned: now })).toEqual({ startedAt, again })
  writeFileSync(join(folder, 'go'), '')
  does('apply', '-input=false', 'plan')
  expect(inFlight({ run: noted, log: printed, planned: plan() })).toBeUndefined()
  expect(lock()).toBeUndefined()
})

test('a state that is gone is noticed before and after the next plan, and is good again once its copy is restored', async () => {
  const { namespace, does, plan, client, key, state } = await aStage('resource "terraform_data" "this" {}')
  const where = `Secret ${namespace}/tfstate-tenant.demo-capt`
  const asked: Workspace = {
    apiVersion: 'tf.m.upbound.io/v1beta1',
    kind: 'Workspace',
    metadata: { namespace, name: 'demo' },
    spec: { forProvider: { source: 'Inline', module: '#' } },
  }
  const whose = { api: workspaceAPIs['tf.m.upbound.io'], workspace: asked }
  const records = createRecords({ client, namespace, date: () => new Date() })
  const judge = async () =>
    judgeState({
      known: (await records.recall(whose)).state,
      found: await state(),
      wasThere: false,
      uid: 'u',
      wish: 'make',
      approve: undefined,
      command: (id) => id,
      restore: undefined,
    }).is

  expect(await state()).toMatchObject({ where, head: 'absent' })
  expect(await judge()).toBe('fine')
  plan()
  expect(await state()).toMatchObject({ head: { isEmpty: true } })
  does('apply', '-input=false', 'plan')
  const { head, bytes } = await state()
  expect(head).toMatchObject({ isEmpty: false })
  if (typeof head === 'string') return
  await records.ended(whose, { state: head })
  expect(await judge()).toBe('fine')
  await records.keepState(whose, { head, bytes }, 'r1')
  // A backend takes no record for a state of its own.
  const listed = does('workspace', 'list').split('\n')
  expect(listed.flatMap((line) => line.match(/^[* ] (\S+)$/)?.[1] ?? [])).toEqual(['default', workspace])

  const lost = await client.get(Secret, key)
  await client.remove(Secret, key)
  expect(await judge()).toBe('gone')
  expect(plan().create).toEqual(['terraform_data.this'])
  expect(await state()).toMatchObject({ head: { isEmpty: true } })
  expect(await judge()).toBe('gone')

  const { items } = await client.list(Secret, { namespace })
  const [copy] = readCopies(items)
  const restored = copy && openCopy(items, copy)?.toString('base64')
  expect(restored).toBe(lost.data?.['tfstate'])
  await client.patch(Secret, key, { data: { tfstate: restored } })
  expect(await judge()).toBe('fine')
  expect(plan().create).toEqual([])
  await client.patch(Secret, key, { data: { tfstate: Buffer.from('nonsense').toString('base64') } })
  expect(await judge()).toBe('damaged')
})

test('a state in several Secrets, as Terraform writes a large one, is read whole or not at all', async () => {
  const namespace = await bed.namespace('parts')
  const client = aClient(bed.kubeconfig)
  const key = { namespace, name: 'tfstate-tenant.demo-capt' }
  const text = JSON.stringify({ version: 4, lineage: 'l', serial: 7, resources: [{ name: 'x'.repeat(1000) }] })
  const bytes = gzipSync(text)
  const cuts = [0, 20, 40, bytes.length]
  const write = async (part: number) =>
    client.create(Secret, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace, name: part === 0 ? key.name : `${key.name}-${part}` },
      data: { tfstate: bytes.subarray(cuts[part], cuts[part + 1]).toString('base64') },
    })
  await write(0)
  await write(1)
  expect((await fetchState(client, key)).head).toBe('damaged')
  await write(2)
  const state = await fetchState(client, key)
  expect(state.head).toEqual({ lineage: 'l', serial: 7, isEmpty: false })
  expect(gunzipSync(state.bytes).toString()).toBe(text)
})
