// What the engine keeps in Secrets, on a real API server: its limits, its garbage collector, and kills between any two writes.
import { randomBytes } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { theBed } from '../../test/bed/story.ts'
import { aClient } from '../../test/reaching.ts'
import { annotations, labels } from '../api/keys.ts'
import { Secret } from '../api/neighbours.ts'
import { crossplane, type Workspace, workspaceAPIs } from '../api/workspace.ts'
import type { Client } from '../kube/client.ts'
import { openCopy, readCopies } from '../terraform/statecopy.ts'
import type { Inputs } from './inputs.ts'
import type { Run } from './memory.ts'
import { createRecords, type Records, type Whose } from './records.ts'

const bed = theBed()
const api = workspaceAPIs['tf.m.upbound.io']

const run: Run = {
  operation: 'apply',
  revision: 'r1',
  startedAt: '2026-11-16T12:00:00.000Z',
  host: 'engine-0',
  bootId: 'boot',
  creates: ['aws_vpc.this'],
}
const inputs: Inputs = {
  files: { 'main.tf': 'output "x" { value = 1 }' },
  env: {},
  varArgs: [],
  hasBackendFile: false,
  usesPluginCache: true,
  isLogged: false,
  secrets: ['hunter2'],
}
const head = (serial: number) => ({ lineage: 'l', serial, isEmpty: false })
const aState = (serial: number, size = 100) => ({ head: head(serial), bytes: randomBytes(size) })

async function aStage() {
  const tenant = await bed.namespace('tenant')
  const namespace = await bed.namespace('states')
  const client = aClient(bed.kubeconfig)
  const wish: Workspace = {
    apiVersion: 'tf.m.upbound.io/v1beta1',
    kind: 'Workspace',
    metadata: {
      namespace: tenant,
      name: 'demo',
      labels: { [labels.apply]: `${tenant}.demo`, other: 'x' },
      annotations: { [crossplane.paused]: 'true' }, // an engine leaves it alone
    },
    spec: { forProvider: { source: 'Inline', module: '#' } },
  }
  const workspace = await client.create(api.workspace, wish)
  const whose: Whose = { api, workspace }
  let minute = 0
  const date = () => new Date(Date.UTC(2026, 10, 16, 12, minute++))
  const recordsBy = (by: Pick<Client, 'get' | 'list' | 'create' | 'apply' | 'patch' | 'remove'>) =>
    createRecords({ client: by, namespace, date })
  const secretsIn = async (where: string) => (await client.list(Secret, { namespace: where })).items
  const copies = async () => readCopies(await secretsIn(namespace))
  return { tenant, namespace, client, wish, whose, recordsBy, records: recordsBy(client), secretsIn, copies }
}

test('a run is noted and ends with what it left behind, of which nothing stays in the end', async () => {
  const { records, whose, secretsIn, namespace } = await aStage()
  expect(await records.recall(whose)).toEqual({})
  await records.noteRun(whose, run)
  expect(await records.recall(whose)).toEqual({ run })
  expect(await records.ended(whose, { state: head(7), inputs })).toBeUndefined()
  expect(await records.recall(whose)).toEqual({ state: head(7), inputs })
  await records.noteRun(whose, { ...run, operation: 'destroy' })
  await records.ended(whose)
  expect(await records.recall(whose)).toEqual({ state: head(7), inputs })
  await records.keepState(whose, aState(7), 'r1')
  expect(await secretsIn(namespace)).toHaveLength(2)
  await records.forget(whose)
  expect(await secretsIn(namespace)).toEqual([])
  await records.forget(whose)
})

test('a Workspace that was deleted by hand and made again is remembered; one of another name or external name is not', async () => {
  const { records, whose, client, wish } = await aStage()
  await records.ended(whose, { state: head(7), inputs })
  await client.remove(api.workspace, { namespace: wish.metadata.namespace ?? '', name: 'demo' })
  const again = await client.create(api.workspace, wish)
  expect(again.metadata.uid).not.toBe(whose.workspace.metadata.uid)
  expect(await records.recall({ api, workspace: again })).toEqual({ state: head(7), inputs })
  const called = (name: string, externalName = name): Whose => ({
    api,
    workspace: {
      ...again,
      metadata: { ...again.metadata, name, annotations: { [crossplane.externalName]: externalName } },
    },
  })
  expect(await records.recall(called('demo'))).toEqual({ state: head(7), inputs })
  expect(await records.recall(called('other'))).toEqual({})
  expect(await records.recall(called('demo', 'other'))).toEqual({})
  expect(await records.recall({ api: workspaceAPIs['opentofu.m.upbound.io'], workspace: again })).toEqual({})
})

test('inputs that are too large are left out, with a reason, and old ones do not pass for new ones', async () => {
  const { records, whose } = await aStage()
  await records.ended(whose, { inputs })
  const large = { ...inputs, files: { 'main.tf': randomBytes(1_200_000).toString('base64') } }
  const reason = await records.ended(whose, { state: head(8), inputs: large })
  expect(reason).toContain('Workspace')
  expect(reason).toContain('do not fit into a Secret')
  expect(await records.recall(whose)).toEqual({ state: head(8) })
  const most = { ...inputs, files: { 'main.tf': randomBytes(880_000).toString('base64') } }
  expect(await records.ended(whose, { inputs: most })).toBeUndefined()
  await records.noteRun(whose, { ...run, creates: ['x'.repeat(99_000)] })
  expect((await records.recall(whose)).inputs).toEqual(most)
})

test('the last four states are kept, each once, found by their apply', async () => {
  const { records, whose, copies, client, namespace, tenant } = await aStage()
  const states = [1, 2, 3, 4, 5].map((serial) => aState(serial))
  for (const state of states) {
    await records.keepState(whose, state, `r${state.head.serial}`)
    await records.keepState(whose, state, 'again')
  }
  expect((await copies()).map(({ serial, revision }) => [serial, revision])).toEqual([
    [5, 'r5'],
    [4, 'r4'],
    [3, 'r3'],
    [2, 'r2'],
  ])
  const [, , third] = states
  if (third) await records.keepState(whose, third, 'restored')
  expect((await copies()).map(({ serial, revision }) => [serial, revision])).toEqual([
    [3, 'restored'],
    [5, 'r5'],
    [4, 'r4'],
    [2, 'r2'],
  ])
  const found = await client.list(Secret, {
    namespace,
    labels: `${labels.record}=state,${labels.apply}=${tenant}.demo`,
  })
  expect(found.items).toHaveLength(4)
  for (const { metadata } of found.items) {
    expect(Object.keys(metadata.labels ?? {}).toSorted()).toEqual(
      [labels.apply, labels.record, labels.recordOf].toSorted(),
    )
    expect(metadata.annotations?.[annotations.workspace]).toBe(`tf.m.upbound.io/${tenant}/demo`)
  }
})

test('the newest copy stays when the clock went back', async () => {
  const { whose, client, namespace, copies } = await aStage()
  let day = 20
  const records = createRecords({ client, namespace, date: () => new Date(Date.UTC(2026, 10, day--)) })
  for (const serial of [1, 2, 3, 4, 5]) await records.keepState(whose, aState(serial), 'r')
  expect((await copies()).map(({ serial }) => serial)).toContain(5)
  expect(await copies()).toHaveLength(4)
})

test('a state that is larger than a Secret is copied in parts, an endless one not at all, an empty one needs no copy', async () => {
  const { records, whose, secretsIn, namespace, copies } = await aStage()
  const large = aState(1, 2_300_000)
  expect(await records.keepState(whose, large, 'r')).toBeUndefined()
  const secrets = await secretsIn(namespace)
  expect(secrets).toHaveLength(3)
  const [copy] = await copies()
  expect(copy && openCopy(secrets, copy)?.equals(large.bytes)).toBe(true)
  expect(await records.keepState(whose, aState(2, 17_000_000), 'r')).toContain('17000000 bytes are too many')
  expect(await records.keepState(whose, { ...aState(3), head: { ...head(3), isEmpty: true } }, 'r')).toBeUndefined()
  expect(await secretsIn(namespace)).toHaveLength(3)
  for (const serial of [4, 5, 6, 7]) await records.keepState(whose, aState(serial), 'r')
  expect(await secretsIn(namespace)).toHaveLength(4)
})

test('the text of a plan lies beside its Workspace, belongs to it, and is cut when it is long', async () => {
  const { records, recordsBy, whose, client, tenant } = await aStage()
  const key = { namespace: tenant, name: 'demo-plan' }
  const read = async () => client.get(Secret, key)
  const textOf = ({ data }: Secret) => gunzipSync(Buffer.from(data?.['plan.gz'] ?? '', 'base64')).toString()
  expect(await records.keepPlan(whose, { id: 'one', text: '# aws_vpc.this will be created\n' })).toBeUndefined()
  const first = await read()
  expect(textOf(first)).toBe('# aws_vpc.this will be created\n')
  expect(first.metadata.annotations?.[annotations.plan]).toBe('one')
  const { apiVersion, kind, metadata } = whose.workspace
  expect(first.metadata.ownerReferences).toEqual([{ apiVersion, kind, name: 'demo', uid: metadata.uid }])
  // The same again is not even sent.
  await recordsBy(killedAfter(client, 0)).keepPlan(whose, { id: 'one', text: '# aws_vpc.this will be created\n' })
  await records.keepPlan(whose, { id: 'two', text: '# aws_vpc.this will be created\n' })
  expect((await read()).metadata.annotations?.[annotations.plan]).toBe('two')
  const long = randomBytes(1_500_000).toString('base64')
  expect(await records.keepPlan(whose, { id: 'three', text: long })).toBeUndefined()
  const cut = await read()
  expect(Buffer.from(cut.data?.['plan.gz'] ?? '', 'base64').length).toBeLessThanOrEqual(512 * 1024)
  expect(Buffer.from(cut.data?.['plan.gz'] ?? '', 'base64').length).toBeGreaterThan(256 * 1024)
  expect(long.startsWith(textOf(cut).split('\n')[0] ?? '?')).toBe(true)
  expect(textOf(cut)).toContain('… cut here: the whole text has 2000000 characters')
})

test("a Secret of somebody else is not written to, though it has a plan's name", async () => {
  const { records, whose, client, tenant } = await aStage()
  const theirs: Secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: tenant, name: 'demo-plan' },
    data: { a: 'YQ==' },
  }
  const before = await client.create(Secret, theirs)
  const reason = await records.keepPlan(whose, { id: 'one', text: 'secret plans' })
  expect(reason).toBe(`the plan of Workspace ${tenant}/demo is not kept: Secret ${tenant}/demo-plan is somebody else's`)
  expect(await client.get(Secret, { namespace: tenant, name: 'demo-plan' })).toEqual(before)
})

test('the plan of a Workspace for the whole cluster lies with the states', async () => {
  const { records, client, namespace, tenant } = await aStage()
  const wide = workspaceAPIs['tf.upbound.io']
  const name = `${tenant}.demo`
  const workspace = await client.create(wide.workspace, {
    apiVersion: 'tf.upbound.io/v1beta1',
    kind: 'Workspace',
    metadata: { name, annotations: { [crossplane.paused]: 'true' } },
    spec: { forProvider: { source: 'Inline', module: '#' } },
  })
  await records.keepPlan({ api: wide, workspace }, { id: 'one', text: 'x' })
  const key = { namespace, name: `${name}-plan` }
  expect((await client.get(Secret, key)).metadata.ownerReferences?.[0]?.uid).toBe(workspace.metadata.uid)
  await client.remove(wide.workspace, { name })
})

class Killed extends Error {}

// Lets so many writes through and none after, as a process that is killed.
function killedAfter(client: Client, writes: number): Client {
  let left = writes
  const mortal =
    <Args extends readonly unknown[], T>(write: (...args: Args) => Promise<T>) =>
    async (...args: Args): Promise<T> => {
      if (left-- <= 0) throw new Killed()
      return write(...args)
    }
  const { create, apply, patch, remove } = client
  return {
    ...client,
    create: mortal(create),
    apply: mortal(apply),
    patch: mortal(patch),
    remove: mortal(remove),
  }
}

test('killed between any two writes and done again, everything is as if nothing had happened', async () => {
  const { client, recordsBy, secretsIn, namespace, tenant, wish } = await aStage()
  const states = [aState(1), aState(2), aState(3), aState(4), aState(5)]
  const life = async (records: Records, whose: Whose) => {
    for (const state of states) {
      await records.noteRun(whose, run)
      await records.keepState(whose, state, 'r')
      await records.ended(whose, { state: state.head, inputs })
    }
    await records.keepPlan(whose, { id: 'one', text: 'a plan' })
  }
  const called = (name: string): Whose => ({ api, workspace: { ...wish, metadata: { namespace: tenant, name } } })
  const worldOf = async (name: string) =>
    [...(await secretsIn(namespace)), ...(await secretsIn(tenant))]
      .filter(({ metadata }) => metadata.annotations?.[annotations.workspace]?.endsWith(`/${name}`))
      .map(({ metadata, data }) => ({ kind: metadata.labels?.[labels.record], data }))
  await life(recordsBy(client), called('whole'))
  const whole = await worldOf('whole')
  expect(whole.map(({ kind }) => kind)).toEqual(['memory', 'state', 'state', 'state', 'state', 'plan'])
  const known = [undefined, ...states.map(({ head: { serial } }) => serial)]
  const died = async (writes: number) => {
    const whose = called(`killed-${writes}`)
    const wasKilled = await life(recordsBy(killedAfter(client, writes)), whose).then(() => false, isKill)
    const left = await recordsBy(client).recall(whose)
    expect(known).toContain(left.state?.serial)
    expect([undefined, run.startedAt]).toContain(left.run?.startedAt)
    await life(recordsBy(client), whose)
    expect(await worldOf(`killed-${writes}`)).toEqual(expect.arrayContaining(whole))
    expect(await worldOf(`killed-${writes}`)).toHaveLength(whole.length)
    return wasKilled
  }
  let kills = 0
  while (await died(kills)) kills++
  expect(kills).toBe(18)
})

test('half a copy is none, and is cleared away with the next', async () => {
  const { whose, client, recordsBy, records, secretsIn, namespace, copies } = await aStage()
  const large = aState(1, 1_100_000)
  await recordsBy(killedAfter(client, 1)).keepState(whose, large, 'r').catch(isKill)
  expect(await secretsIn(namespace)).toHaveLength(1)
  expect(await copies()).toEqual([])
  await records.keepState(whose, aState(2), 'r')
  expect(await secretsIn(namespace)).toHaveLength(1)
  expect((await copies()).map(({ serial }) => serial)).toEqual([2])
})

function isKill(error: unknown): true {
  if (error instanceof Killed) return true
  throw error
}
