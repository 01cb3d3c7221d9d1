import { gunzipSync, gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import {
  aSmallEngine,
  clusterWide,
  key,
  messageOf,
  ownFinalizer,
  type SmallEngine,
  stateKey,
  tell,
} from '../../test/engine.ts'
import type { Instant, Module } from '../../test/instant.ts'
import { Struck } from '../../test/objects.ts'
import { labels, annotations as ours } from '../api/keys.ts'
import { ConfigMap, Secret } from '../api/neighbours.ts'
import type { Key, KubeObject, Resource } from '../api/resource.ts'
import { crossplane, type Workspace, type WorkspaceSpec } from '../api/workspace.ts'
import { ApiError } from '../kube/errors.ts'
import { readPlanNote } from '../terraform/plannote.ts'
import { readCopies } from '../terraform/statecopy.ts'
import { isMade } from './signs.ts'
import type { Furnished, Ran } from './terraform.ts'

const eks: Module = {
  resources: { 'terraform_data.eks': 'demo' },
  outputs: { endpoint: 'https://demo.invalid', number: 3, kubeconfig: 'secret words' },
  sensitive: ['kubeconfig'],
}
const connection = { name: 'demo-conn', namespace: 'default' }
const settled = 'Ready=True/Available Synced=True/ReconcileSuccess@1 UpToDate=True/ObserveMatched@1'

const secretOf = ({ objects }: SmallEngine) =>
  Object.fromEntries(
    Object.entries(objects.get(Secret, connection)?.data ?? {}).map(([name, value]) => [
      name,
      Buffer.from(value, 'base64').toString(),
    ]),
  )

async function created(module: Module = eks, more: Partial<WorkspaceSpec> = {}, metadata: object = {}) {
  const engine = aSmallEngine()
  engine.apply(module, more, metadata)
  expect((await engine.pass()).wake).toBe('poll')
  engine.instant.calls.length = 0
  engine.events.length = 0
  engine.tick()
  return engine
}

test('a Workspace is created in one pass and four calls, with everything told as the provider tells it', async () => {
  const engine = aSmallEngine()
  engine.apply(eks)
  const { wake } = await engine.pass()
  expect(wake).toBe('poll')
  expect(engine.instant.calls).toEqual(['init', 'plan', 'apply', 'output'])
  expect(tell(engine.is())).toBe(settled)
  expect(engine.is()?.status?.atProvider?.outputs).toEqual({ endpoint: 'https://demo.invalid', number: 3 })
  expect(engine.is()?.metadata).toMatchObject({
    finalizers: [ownFinalizer],
    annotations: {
      [crossplane.externalName]: 'demo',
      [crossplane.createPending]: '2026-11-15T23:00:00Z',
      [crossplane.createSucceeded]: '2026-11-15T23:00:00Z',
      [ours.cli]: 'tofu 1.12.6',
    },
  })
  expect(readPlanNote(notes(engine)[ours.plan])).toMatchObject({
    create: 1,
    begun: { revision: engine.is()?.status?.atProvider?.checksum, at: '2026-11-15T23:00:00Z' },
  })
  expect(secretOf(engine)).toEqual({ endpoint: 'https://demo.invalid', number: '3', kubeconfig: 'secret words' })
  expect(engine.objects.get(Secret, connection)).toMatchObject({
    type: 'connection.crossplane.io/v1alpha1',
    metadata: { ownerReferences: [{ kind: 'Workspace', name: 'demo', controller: true, blockOwnerDeletion: true }] },
  })
  expect(engine.objects.list(clusterWide.usage)).toMatchObject([
    {
      metadata: { name: engine.is()?.metadata.uid, labels: { 'crossplane.io/provider-config': 'default' } },
      providerConfigRef: { name: 'default' },
      resourceRef: { apiVersion: 'tf.upbound.io/v1beta1', kind: 'Workspace', name: 'demo' },
    },
  ])
  expect(engine.events).toEqual(['Normal CreatedExternalResource'])
  expect(JSON.stringify([engine.is()?.status, engine.is()?.metadata])).not.toContain('secret words')
})

test('its writes come in the recorded order, the finalizer before anything is written to a state', async () => {
  const engine = aSmallEngine()
  engine.apply(eks)
  await engine.pass()
  const written = engine.objects.writes.map((each) => each.replace(/[0-9a-f]{32}|[0-9a-f-]{36}/, '…'))
  expect(written).toEqual([
    'patch Workspace demo', // external-name
    'apply ProviderConfigUsage …',
    'patch Workspace demo', // finalizer
    'create Secret states/demo-plan',
    'create Secret default/demo-conn', // empty
    'patch Workspace demo', // pending
    'create Secret states/memory-…',
    'patch Secret states/memory-…',
    'patch Workspace demo', // succeeded
    'patch Secret default/demo-conn',
    'status Workspace demo',
  ])
})

test.each<[string, (engine: SmallEngine) => void]>([
  ['is deleted', () => {}],
  ['is deleted, and another of its name comes,', (engine) => engine.apply(eks)],
])('a Workspace that %s before it is claimed is let go, and nothing is run for it', async (_, then) => {
  const engine = aSmallEngine()
  engine.apply(eks)
  engine.objects.watch(({ type, resource }) => {
    if (type !== 'ADDED' || resource.kind !== 'ProviderConfigUsage') return
    engine.objects.remove(clusterWide.workspace, key)
    then(engine)
  })
  const { wake, did } = await engine.pass()
  expect([wake, did]).toEqual(['onChange', ['name', 'connect', 'claim']])
  expect([engine.instant.calls, engine.events, engine.is()?.metadata.finalizers ?? []]).toEqual([[], [], []])
})

test('an unchanged poll is one call and no write; after a restart it is two', async () => {
  const engine = await created()
  const before = engine.objects.writes.length
  expect((await engine.pass()).wake).toBe('poll')
  expect(engine.instant.calls.splice(0)).toEqual(['plan'])
  engine.restart()
  await engine.pass()
  expect(engine.instant.calls).toEqual(['plan', 'output'])
  expect(engine.objects.writes.length).toBe(before)
})

test('a change is four calls; Ready stays, outputs and the generation come in the same write', async () => {
  const engine = await created()
  engine.apply({ ...eks, resources: { 'terraform_data.eks': 'demo2' }, outputs: { endpoint: 'https://demo2.invalid' } })
  const before = engine.objects.writes.length
  await engine.pass()
  expect(engine.instant.calls).toEqual(['init', 'plan', 'show', 'apply', 'output']) // the module itself was changed
  expect(tell(engine.is())).toBe(settled.replaceAll('@1', '@2'))
  expect(engine.is()?.status?.atProvider?.outputs).toEqual({ endpoint: 'https://demo2.invalid' })
  expect(engine.objects.writes.slice(before).filter((each) => each.startsWith('status'))).toHaveLength(1)
  expect(engine.events).toEqual(['Normal UpdatedExternalResource'])
  expect(secretOf(engine)).toEqual({ endpoint: 'https://demo2.invalid' }) // what is no output any more is gone
})

test('somebody changed the connection Secret: the next poll mends it', async () => {
  const engine = await created()
  engine.objects.change(Secret, connection, { data: { endpoint: 'bm9wZQ==', foreign: 'eA==' } })
  await engine.pass()
  expect(engine.instant.calls).toEqual(['plan', 'output'])
  expect(secretOf(engine)).toEqual({ endpoint: 'https://demo.invalid', number: '3', kubeconfig: 'secret words' })
})

test.each<[string, readonly object[]]>([
  ['taken from it', []],
  [
    'left in another version of the API',
    [{ apiVersion: 'tf.upbound.io/v1', kind: 'Workspace', name: 'demo', uid: 'x', controller: true }],
  ],
])(
  'an owner of the connection Secret that somebody has %s is put right by the next poll',
  async (_, ownerReferences) => {
    const engine = await created()
    engine.objects.change(Secret, connection, { metadata: { ownerReferences } })
    await engine.pass()
    expect(tell(engine.is())).toBe(settled)
    const { uid } = engine.is()?.metadata ?? {}
    expect(engine.objects.get(Secret, connection)?.metadata.ownerReferences).toMatchObject([{ uid, controller: true }])
  },
)

test('drift is repaired where Update is allowed', async () => {
  const engine = await created()
  engine.instant.states.get('demo')?.set('terraform_data.eks', 'drifted')
  await engine.pass()
  expect(engine.instant.states.get('demo')?.get('terraform_data.eks')).toBe('demo')
  expect(tell(engine.is())).toBe(settled)
})

test('drift is told, with counts, and left alone where Update is not allowed; gone, it is told no more', async () => {
  const engine = await created(eks, { managementPolicies: ['Observe', 'Create', 'Delete'] })
  engine.instant.states.get('demo')?.set('terraform_data.eks', 'drifted')
  expect((await engine.pass()).wake).toBe('poll')
  expect(engine.instant.states.get('demo')?.get('terraform_data.eks')).toBe('drifted')
  expect(tell(engine.is())).toBe(
    'Ready=True/Available Synced=True/ReconcileSuccess@1 UpToDate=False/UpdateRestricted@1',
  )
  expect(messageOf(engine.is(), 'UpToDate')).toBe(
    'not applied, because managementPolicies do not allow Update: 1 to update',
  )
  const note = () => readPlanNote(engine.is()?.metadata.annotations?.[ours.plan])
  expect(note()).toMatchObject({ update: 1 })
  expect(note()?.begun).toBeUndefined()
  engine.instant.states.get('demo')?.set('terraform_data.eks', 'demo')
  await engine.pass()
  expect(tell(engine.is())).toBe(settled)
  expect(engine.is()?.metadata.annotations?.[ours.plan]).toBeUndefined()
})

test('where Create is not allowed, nothing is made, and that is told', async () => {
  const engine = aSmallEngine()
  engine.apply(eks, { managementPolicies: ['Observe'] })
  await engine.pass()
  expect(engine.instant.calls).toEqual(['init', 'plan'])
  expect(tell(engine.is())).toBe('Synced=True/ReconcileSuccess@1 UpToDate=False/UpdateRestricted@1')
  expect(engine.objects.get(Secret, connection)).toBeUndefined()
})

test('paused, it is left alone; one event, however often it is looked at; then changes are taken up', async () => {
  const engine = await created()
  engine.apply({ ...eks, outputs: { endpoint: 'new' } }, {}, { annotations: { ...notes(engine), ...paused } })
  expect((await engine.pass()).wake).toBe('onChange')
  await engine.pass()
  expect(engine.instant.calls).toEqual([])
  expect(tell(engine.is())).toBe('Ready=True/Available Synced=False/ReconcilePaused@2 UpToDate=True/ObserveMatched@1')
  expect(engine.events.splice(0)).toEqual(['Normal ReconciliationPaused'])
  engine.objects.change(clusterWide.workspace, key, { metadata: { annotations: { [crossplane.paused]: null } } })
  await engine.pass()
  expect(tell(engine.is())).toBe(settled.replaceAll('@1', '@2'))
})
const paused = { [crossplane.paused]: 'true' }
const notes = (engine: SmallEngine) => engine.is()?.metadata.annotations ?? {}

test('no policies at all are a pause, and a set that is not supported is refused in the words of Crossplane', async () => {
  const engine = aSmallEngine()
  engine.apply(eks, { managementPolicies: [] })
  await engine.pass()
  expect(tell(engine.is())).toBe('Synced=False/ReconcilePaused@1')
  engine.apply(eks, { managementPolicies: ['Create'] })
  await engine.pass()
  expect(messageOf(engine.is())).toContain('which is not supported. Check docs for supported policies')
  expect(engine.instant.calls).toEqual([])
})

test('no ProviderConfig: told as the provider tells it, no finalizer, no usage; deleted, it goes at once', async () => {
  const engine = aSmallEngine()
  engine.apply(eks, { providerConfigRef: { name: 'does-not-exist' } })
  engine.objects.change(clusterWide.workspace, key, { spec: { providerConfigRef: { name: 'does-not-exist' } } })
  expect((await engine.pass()).wake).toBe('retry')
  expect(messageOf(engine.is())).toBe(
    'connect failed: failed to resolve provider config: cannot get provider config: ProviderConfig.tf.upbound.io "does-not-exist" not found',
  )
  expect(tell(engine.is())).toBe('Synced=False/ReconcileError@1')
  expect(engine.is()?.status?.atProvider).toEqual({})
  expect(engine.objects.list(clusterWide.usage)).toEqual([])
  engine.objects.remove(clusterWide.workspace, key)
  expect(engine.is()).toBeUndefined()
})

test.each([
  ['init', 'connect failed: cannot initialize Terraform configuration', 'CannotConnectToProvider'],
  ['plan', 'observe failed: cannot diff (i.e. plan) Terraform configuration', 'CannotObserveExternalResource'],
] as const)(
  'the first %s fails: no Ready, one event for one text, and nothing stays when it is deleted',
  async (what, text, reason) => {
    const engine = aSmallEngine()
    engine.apply({ ...eks, fails: { [what]: 'Something is wrong' } })
    expect((await engine.pass()).wake).toBe('retry')
    await engine.pass()
    expect(tell(engine.is())).toBe('Synced=False/ReconcileError@1')
    expect(messageOf(engine.is())).toContain(
      `${text}: Terraform encountered an error. Summary: Something is wrong. To see`,
    )
    expect(decoded(messageOf(engine.is()))).toContain('Error: Something is wrong')
    expect(engine.events).toEqual([`Warning ${reason}`])
    engine.instant.states.set('demo', new Map()) // any command makes one
    engine.objects.remove(clusterWide.workspace, key)
    await engine.pass()
    expect(engine.is()).toBeUndefined()
    expect(engine.instant.states.size).toBe(0)
  },
)

const decoded = (message: string) =>
  gunzipSync(Buffer.from(/echo "([^"]+)"/.exec(message)?.[1] ?? '', 'base64')).toString()

test('a failure that has another request id each time is one failure, told as it was first', async () => {
  const engine = aSmallEngine()
  const failing = (id: string, why = 'Throttling') =>
    Object.assign(engine.instant.terraform, {
      plan: async () => ({
        code: 1,
        out: '',
        err: `Error: reading EC2 VPC: ${why}, RequestID:\n${id}, api error\n`,
        ended: 'byItself',
      }),
    })
  engine.apply(eks)
  failing('7f3a')
  await engine.pass()
  const before = engine.objects.writes.length
  failing('8c1e')
  await engine.pass()
  expect(engine.objects.writes.slice(before)).toEqual([])
  expect(decoded(messageOf(engine.is()))).toContain('7f3a')
  expect(engine.events).toEqual(['Warning CannotObserveExternalResource'])
  failing('9d2f', 'AccessDenied')
  await engine.pass()
  expect(decoded(messageOf(engine.is()))).toContain('9d2f')
  expect(engine.events).toHaveLength(2)
})

test('the first apply fails, then another, then it is mended', async () => {
  const engine = aSmallEngine()
  engine.apply({ ...eks, fails: { apply: 'no quota' } })
  expect((await engine.pass()).wake).toBe('retry')
  expect(tell(engine.is())).toBe('Ready=False/Creating@1 Synced=False/ReconcileError@1')
  expect(messageOf(engine.is())).toMatch(/^create failed: cannot apply Terraform configuration: .*Summary: no quota\. /)
  expect(Object.keys(notes(engine))).toEqual(
    expect.arrayContaining([crossplane.createPending, crossplane.createFailed]),
  )
  expect(notes(engine)).not.toHaveProperty([crossplane.createSucceeded])
  expect(engine.objects.get(Secret, connection)?.data).toBeUndefined()
  engine.tick()
  engine.apply(eks)
  await engine.pass()
  expect(tell(engine.is())).toBe(settled.replaceAll('@1', '@2'))
  expect(engine.events).toEqual(['Warning CannotCreateExternalResource', 'Normal CreatedExternalResource'])
})

test('a later apply that fails leaves Ready alone and is an update', async () => {
  const engine = await created()
  engine.apply({ ...eks, resources: { 'terraform_data.eks': 'demo2' }, fails: { apply: 'no quota' } })
  await engine.pass()
  expect(tell(engine.is())).toBe('Ready=True/Available Synced=False/ReconcileError@2 UpToDate=False/UpdateFailed@2')
  expect(messageOf(engine.is())).toMatch(/^update failed: /)
})

test('a module with neither resource nor output becomes Ready', async () => {
  const engine = await created({})
  expect(tell(engine.is())).toBe(settled)
})

test('deleted, it is destroyed, forgotten and let go', async () => {
  const engine = await created()
  engine.objects.remove(clusterWide.workspace, key)
  const told: string[] = []
  engine.instant.onCommand = (name) => void told.push(`${name} ${tell(engine.is())}`)
  await engine.pass()
  expect(told).toEqual([
    'destroy Ready=False/Deleting@2 Synced=True/ReconcileSuccess@1 UpToDate=True/ObserveMatched@1',
    'forget Ready=False/Deleting@2 Synced=True/ReconcileSuccess@2 UpToDate=True/ObserveMatched@1',
  ])
  expect(engine.is()).toBeUndefined()
  expect(engine.instant.states.size).toBe(0)
  expect(engine.objects.list(clusterWide.usage)).toEqual([])
  expect(engine.objects.list(Secret).filter(({ metadata }) => metadata.name.startsWith('memory'))).toEqual([])
  expect(engine.events).toEqual(['Normal DeletedExternalResource'])
})

test('while somebody else holds it, nothing is destroyed and nothing is said', async () => {
  const engine = await created(eks, {}, { finalizers: ['example.com/hold'] })
  engine.objects.remove(clusterWide.workspace, key)
  expect(await engine.pass()).toMatchObject({ wake: 'onChange', did: [], says: '' })
  engine.objects.change(clusterWide.workspace, key, { metadata: { finalizers: [ownFinalizer] } })
  await engine.pass()
  expect(engine.is()).toBeUndefined()
})

test.each<Partial<WorkspaceSpec>>([
  { deletionPolicy: 'Orphan' },
  { managementPolicies: ['Observe', 'Create', 'Update'] },
])(
  'an orphan (%j) is let go at once, and its state stays; made again, it is on it without an apply',
  async (orphan) => {
    const engine = await created(eks, orphan, { finalizers: ['example.com/hold'] })
    engine.objects.remove(clusterWide.workspace, key)
    await engine.pass()
    expect(engine.is()?.metadata.finalizers).toEqual(['example.com/hold'])
    engine.objects.change(clusterWide.workspace, key, { metadata: { finalizers: [] } })
    expect(engine.is()).toBeUndefined()
    engine.apply(eks)
    await engine.pass()
    expect(engine.instant.calls).toEqual(['init', 'plan', 'output'])
    expect(tell(engine.is())).toBe(settled)
    expect(notes(engine)).not.toHaveProperty([crossplane.createPending])
    // And what it did not make itself is destroyed with it.
    engine.objects.remove(clusterWide.workspace, key)
    await engine.pass()
    expect(engine.instant.states.size).toBe(0)
  },
)

test('a destroy that fails is told, and tried again', async () => {
  const engine = await created()
  engine.apply({ ...eks, fails: { destroy: 'still in use' } })
  engine.objects.remove(clusterWide.workspace, key)
  expect((await engine.pass()).wake).toBe('retry')
  expect(tell(engine.is())).toMatch(/^Ready=False\/Deleting@3 Synced=False\/ReconcileError@3/)
  expect(messageOf(engine.is())).toMatch(/^delete failed: cannot destroy Terraform configuration: .*still in use/)
})

test('its ProviderConfig is gone: it is destroyed with the inputs of the last apply', async () => {
  const engine = await created()
  engine.objects.remove(clusterWide.providerConfig, { name: 'default' })
  engine.objects.remove(clusterWide.workspace, key)
  await engine.pass()
  expect(engine.is()).toBeUndefined()
  expect(engine.instant.states.size).toBe(0)
})

test('what goes is destroyed by the module that is there, not by what its address leads to now', async () => {
  const engine = await created()
  const uid = engine.is()?.metadata.uid ?? ''
  const remote = { source: 'Remote', module: 'git::https://example.com/gone' }
  engine.objects.change(clusterWide.workspace, key, { spec: { forProvider: remote } })
  await engine.pass()
  expect(engine.instant.furnished.get(uid)?.remote).toMatchObject({ isPulledAlways: true })
  let pulled: unknown
  engine.instant.onCommand = () => {
    pulled = engine.instant.furnished.get(uid)?.remote
  }
  engine.objects.remove(clusterWide.workspace, key)
  await engine.pass()
  expect(pulled).toMatchObject({ isPulledAlways: false })
})

test('state that was there before and never planned well is destroyed, not left behind', async () => {
  const engine = aSmallEngine()
  engine.instant.states.set('demo', new Map([['terraform_data.old', 1]]))
  engine.apply({ ...eks, fails: { plan: 'wrong' } })
  await engine.pass()
  engine.apply(eks)
  engine.objects.remove(clusterWide.workspace, key)
  await engine.pass()
  expect(engine.instant.calls.slice(2)).toEqual(['init', 'forget', 'init', 'destroy', 'forget'])
  expect(engine.is()).toBeUndefined()
})

test('guarded, a plan that deletes or replaces waits for the approval of that very plan', async () => {
  const hold = { annotations: { [ours.guard]: 'Hold' } }
  const engine = await created(eks, {}, hold)
  engine.apply({ ...eks, resources: { 'terraform_data.other': 1 } })
  expect((await engine.pass()).wake).toBe('poll')
  expect(engine.instant.calls.splice(0)).toEqual(['init', 'plan', 'show'])
  const note = readPlanNote(notes(engine)[ours.plan])
  expect(note).toMatchObject({ create: 1, delete: 1, gone: ['terraform_data.eks'], held: 'Destructive' })
  expect(messageOf(engine.is())).toBe(
    `update failed: held for approval: this plan deletes 1 and replaces 0: terraform_data.eks; approve with: kubectl annotate workspaces.tf.upbound.io demo --overwrite capt.appthrust.io/approve=${note?.id}`,
  )
  expect(tell(engine.is())).toBe('Ready=True/Available Synced=False/ReconcileError@2 UpToDate=False/UpdateRestricted@2')
  expect(engine.events.splice(0)).toEqual(['Warning CannotUpdateExternalResource'])
  await engine.pass()
  expect(engine.events).toEqual([]) // held again is no news

  const approve = (id: string) =>
    engine.objects.change(clusterWide.workspace, key, { metadata: { annotations: { [ours.approve]: id } } })
  approve('another')
  await engine.pass()
  expect(engine.instant.states.get('demo')?.has('terraform_data.eks')).toBe(true)
  approve(note?.id ?? '')
  await engine.pass()
  expect([...(engine.instant.states.get('demo')?.keys() ?? [])]).toEqual(['terraform_data.other'])
  expect(tell(engine.is())).toBe(settled.replaceAll('@1', '@2'))
})

test.each<[string, (engine: SmallEngine) => void]>([
  ['a variable', (engine) => change(engine, { vars: [{ key: 'size', value: '2' }] })],
  ['a variable in the environment', (engine) => change(engine, { env: [{ name: 'TF_VAR_size', value: '2' }] })],
  ['an option of planning', (engine) => change(engine, { planArgs: ['-refresh=false'] })],
  ['a file of variables', ({ objects }) => objects.change(ConfigMap, sizes, { data: { it: 'size = 2' } })],
])(
  'an approval is not good for a plan that was made with %s that is another, whatever the manager calls it',
  async (_, mend) => {
    const engine = await created(eks, {}, { annotations: { [ours.guard]: 'Hold', [ours.revision]: 'r1' } })
    engine.objects.put(ConfigMap, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: sizes,
      data: { it: 'size = 1' },
    } as ConfigMap)
    engine.apply({ ...eks, resources: {} })
    change(engine, { varFiles: [{ source: 'ConfigMapKey', configMapKeyRef: { ...sizes, key: 'it' } }] })
    await engine.pass()
    const held = readPlanNote(notes(engine)[ours.plan])
    const approved = { metadata: { annotations: { [ours.approve]: held?.id } } }
    engine.objects.change(clusterWide.workspace, key, approved)
    mend(engine)
    await engine.pass()
    const note = readPlanNote(notes(engine)[ours.plan])
    expect(note).toMatchObject({ held: 'Destructive', gone: ['terraform_data.eks'] })
    expect(note?.id).not.toBe(held?.id)
    expect(engine.instant.states.get('demo')?.size).toBe(1)
  },
)
const sizes = { namespace: 'default', name: 'sizes' }
const change = ({ objects }: SmallEngine, forProvider: object) =>
  objects.change(clusterWide.workspace, key, { spec: { forProvider } })

test('a plan that waits is written down once, in whatever order it was come to', async () => {
  const engine = await created(eks, {}, { annotations: { [ours.guard]: 'Hold' } })
  engine.apply({ ...eks, resources: {} })
  const { plan } = engine.instant.terraform
  let lines: readonly string[] = ['a: Refreshing state... [id=1]\n', 'data.b: Reading...\n']
  Object.assign(engine.instant.terraform, {
    async plan(where: Furnished) {
      const ran = await plan(where)
      lines = lines.toReversed()
      return { ...ran, out: lines.join('') + ran.out }
    },
  })
  await engine.pass()
  const before = engine.objects.writes.length
  await engine.pass()
  expect(engine.objects.writes.slice(before)).toEqual([])
})

test('guarded, a plan that deletes nothing is applied', async () => {
  const engine = await created(eks, {}, { annotations: { [ours.guard]: 'Hold' } })
  engine.apply({ ...eks, resources: { 'terraform_data.eks': 'demo', 'terraform_data.more': 1 } })
  await engine.pass()
  expect(tell(engine.is())).toBe(settled.replaceAll('@1', '@2'))
})

test('an apply was killed: what it may have made is not made again without a word', async () => {
  const engine = aSmallEngine()
  engine.apply(eks)
  engine.instant.onCommand = (name) => {
    if (name === 'apply') throw new Struck('killed')
  }
  engine.objects.strike(8, 'before') // and what it would write next is not written
  await engine.pass().catch(() => {})
  engine.instant.onCommand = () => {}
  engine.restart()
  await engine.pass()
  expect(messageOf(engine.is())).toMatch(
    /^create failed: held for approval: the apply that began at .* was interrupted, and this plan would create again what it may have made: terraform_data\.eks; look whether that is there, then approve with: /,
  )
  expect(readPlanNote(notes(engine)[ours.plan])).toMatchObject({ held: 'Interrupted', again: ['terraform_data.eks'] })
  expect(engine.instant.states.get('demo')?.size).toBe(0)
})

// What it printed is there, as after a kill.
function endingSo({ instant }: SmallEngine, ended: Partial<Ran>, before: (where: Furnished) => void = () => {}): void {
  const { terraform } = instant
  const { apply } = terraform
  instant.onCommand = (name) => {
    if (name === 'apply') throw new Struck('killed')
  }
  const ran: Ran = { code: 137, out: '', err: '', ended: 'byItself', ...ended }
  Object.assign(terraform, {
    async apply(where: Furnished) {
      before(where)
      return apply(where).catch(() => ran)
    },
  })
}

test.each<[string, Partial<Ran>, string]>([
  ['had to be killed', { ended: 'timeout' }, 'it took longer than it may (--timeout) and was interrupted'],
  ['was killed by the machine', {}, 'it ended with code 137 and said nothing'],
  ['crashed', { code: 11, err: 'panic: nil\n' }, 'panic: nil'],
])('an apply that %s counts as interrupted, however often it is looked at', async (_, ended, told) => {
  const engine = aSmallEngine()
  engine.apply(eks)
  endingSo(engine, ended)
  await engine.pass()
  expect(messageOf(engine.is())).toContain(`Summary: ${told}`)
  for (let look = 0; look < 2; look++) {
    await engine.pass()
    expect(readPlanNote(notes(engine)[ours.plan])?.held).toBe('Interrupted')
  }
})

test('an apply whose state is only in its folder has not ended; once that is home, it is over', async () => {
  const engine = aSmallEngine()
  engine.apply(eks)
  const left = JSON.stringify({ lineage: 'l', serial: 7, resources: [{}] })
  endingSo(engine, { code: 1 }, ({ folder }) => engine.instant.lefts.set(folder, left))
  await engine.pass()
  expect(runOf(engine)).toBeDefined()
  engine.instant.loseFolders() // and the state with them
  await engine.pass()
  expect(readPlanNote(notes(engine)[ours.plan])).toMatchObject({ held: 'Interrupted', again: ['terraform_data.eks'] })
})

test('no plan is left behind, whether it is applied, held or fails', async () => {
  const engine = await created(eks, {}, { annotations: { [ours.guard]: 'Hold' } })
  expect(engine.instant.plans.size).toBe(0)
  engine.apply({ ...eks, resources: {} })
  await engine.pass()
  expect(readPlanNote(notes(engine)[ours.plan])?.held).toBe('Destructive')
  expect(engine.instant.plans.size).toBe(0)
  engine.apply({ ...eks, resources: { 'terraform_data.eks': 'demo2' } })
  engine.objects.strike(1, 'before')
  await expect(engine.pass()).rejects.toThrow(Struck)
  expect(engine.instant.plans.size).toBe(0)
})

test('outputs that could not be told are told by the next pass', async () => {
  const engine = await created()
  engine.apply({ ...eks, resources: { 'terraform_data.eks': 'demo2' }, outputs: { endpoint: 'https://demo2.invalid' } })
  const { client } = engine.objects
  const { replaceStatus } = client
  const refused = async () => Promise.reject(new Struck('the status is not written'))
  Object.assign(client, { replaceStatus: refused })
  await expect(engine.pass()).rejects.toThrow('the status is not written')
  Object.assign(client, { replaceStatus })
  await engine.pass()
  expect(engine.is()?.status?.atProvider?.outputs).toEqual({ endpoint: 'https://demo2.invalid' })
})

test('an apply of which only the end was not written down is over: what drifts later is repaired', async () => {
  const engine = aSmallEngine()
  engine.apply(eks)
  engine.objects.strike(8, 'before') // the first write after the apply
  await expect(engine.pass()).rejects.toThrow('before patch Secret states/memory')
  engine.restart()
  await engine.pass()
  expect(tell(engine.is())).toBe(settled)
  expect(runOf(engine)).toBeUndefined()
  engine.instant.states.get('demo')?.clear()
  await engine.pass()
  expect(tell(engine.is())).toBe(settled)
})
const runOf = ({ objects }: SmallEngine) =>
  objects.list(Secret).find(({ metadata }) => metadata.name.startsWith('memory'))?.data?.['run']

async function createdHere(module: Module = eks) {
  const engine = aSmallEngine({ keepsStatesHere: true })
  engine.apply(module)
  await engine.pass()
  expect(tell(engine.is())).toBe(settled)
  engine.tick()
  return engine
}
function loseState({ objects, instant }: SmallEngine): void {
  objects.remove(Secret, stateKey)
  instant.states.delete('demo')
}
function forgetAll({ objects }: SmallEngine): void {
  for (const { metadata } of objects.list(Secret))
    if (metadata.labels?.[labels.record]) objects.remove(Secret, metadata)
}
function putState({ objects }: SmallEngine, serial: number): void {
  const resources = [{ mode: 'managed', type: 'terraform_data', name: 'eks', instances: [{}] }]
  const text = JSON.stringify({ version: 4, lineage: '1', serial, resources })
  objects.change(Secret, stateKey, { data: { tfstate: gzipSync(text).toString('base64') } })
}
const approveAsTold = (engine: SmallEngine) => {
  const [, id] = /capt\.appthrust\.io\/approve=([0-9a-f]{12})$/.exec(messageOf(engine.is())) ?? []
  engine.objects.change(clusterWide.workspace, key, { metadata: { annotations: { [ours.approve]: id } } })
}
const records = ({ objects }: SmallEngine) =>
  objects
    .list(Secret)
    .filter(({ metadata }) => metadata.name.startsWith('memory') || metadata.name.startsWith('state-'))

test('deleted when its state is gone, it stays with all that is known of it, until a user lets it go', async () => {
  const engine = await createdHere()
  loseState(engine)
  const before = records(engine)
  engine.objects.remove(clusterWide.workspace, key)
  expect((await engine.pass()).wake).toBe('retry')
  expect(messageOf(engine.is())).toMatch(
    /^delete failed: the state in Secret states\/tfstate-demo-capt is gone .*: restore it from a copy, or, if nothing it held exists any more, let it go with: kubectl annotate workspaces\.tf\.upbound\.io demo /,
  )
  expect(records(engine)).toEqual(before)
  approveAsTold(engine)
  await engine.pass()
  expect(engine.is()).toBeUndefined()
  expect(records(engine)).toEqual([])
})

const copiesOf = (engine: SmallEngine) =>
  readCopies(engine.objects.list(Secret)).map(({ serial, taken }) => [serial, taken])

test('the state that an apply leaves is copied once, and what others made of it before the next one', async () => {
  const engine = await createdHere()
  expect(copiesOf(engine)).toEqual([[2, 'after']])
  const [copy] = readCopies(engine.objects.list(Secret))
  expect(copy).toMatchObject({ resources: 1, of: 'states/tfstate-demo-capt' })
  engine.apply({ resources: { 'terraform_data.eks': 'other' } })
  await engine.pass()
  expect(copiesOf(engine)).toEqual([
    [3, 'after'],
    [2, 'after'],
  ])
  engine.tick()
  putState(engine, 7)
  await engine.pass()
  expect(copiesOf(engine)).toEqual([
    [7, 'after'],
    [3, 'after'],
    [2, 'after'],
  ])
})

test('a state that was lost is good again when its copy is put back, and its apply is told the command for that', async () => {
  const engine = aSmallEngine({ keepsStatesHere: true })
  engine.apply(eks, {}, { annotations: { [ours.apply]: 'default/demo' } })
  await engine.pass()
  const { data = {} } = engine.objects.get(Secret, stateKey) ?? {}
  engine.objects.remove(Secret, stateKey)
  engine.instant.calls.length = 0
  await engine.pass()
  expect(messageOf(engine.is())).toContain('(capt state restore demo --namespace default --at latest), or, if')
  expect(engine.instant.calls).toEqual([])
  const restored: Secret = { apiVersion: 'v1', kind: 'Secret', metadata: stateKey, data }
  engine.objects.put(Secret, restored)
  await engine.pass()
  expect(tell(engine.is())).toBe(settled)
  expect(engine.instant.calls).toEqual(['plan'])
})

test('deleted when its state is damaged, it stays', async () => {
  const engine = await createdHere()
  engine.objects.change(Secret, stateKey, { data: { tfstate: 'bm9wZQ==' } })
  engine.objects.remove(clusterWide.workspace, key)
  await engine.pass()
  expect(messageOf(engine.is())).toContain('delete failed: the state in Secret states/tfstate-demo-capt cannot be read')
})

test.each(['kept', 'deleted'])('one that came from elsewhere without its state is frozen, %s', async (how) => {
  const engine = await createdHere()
  loseState(engine)
  forgetAll(engine)
  engine.restart()
  engine.instant.calls.length = 0
  if (how === 'deleted') engine.objects.remove(clusterWide.workspace, key)
  expect((await engine.pass()).wake).toBe('retry')
  expect(messageOf(engine.is())).toContain(
    'there is no state in Secret states/tfstate-demo-capt, although this was made before',
  )
  expect(engine.instant.calls).toEqual([])
  approveAsTold(engine)
  await engine.pass()
  expect(tell(engine.is())).toBe(how === 'kept' ? settled : '') // or it is no more
})

test('of one that came from elsewhere with its state, that state is known from then on', async () => {
  const engine = await createdHere()
  forgetAll(engine)
  await engine.pass()
  const { length } = engine.objects.writes
  await engine.pass()
  expect(engine.objects.writes.length).toBe(length)
  loseState(engine)
  await engine.pass()
  expect(messageOf(engine.is())).toContain('is gone (serial')
})

test.each<[string, Module]>([
  ['has neither resource nor output', {}],
  ['has only outputs', { outputs: { endpoint: 'x' } }],
])('one whose module %s is not taken for one that lost its state', async (_, module) => {
  const engine = await createdHere(module)
  forgetAll(engine)
  engine.restart()
  await engine.pass()
  expect(tell(engine.is())).toBe(settled)
})

test('one whose first apply was cut off before anything was written is not taken for one that lost its state', async () => {
  const engine = aSmallEngine({ keepsStatesHere: true })
  engine.apply(eks)
  endingSo(engine, {})
  await engine.pass()
  loseState(engine)
  await engine.pass()
  expect(readPlanNote(notes(engine)[ours.plan])?.held).toBe('Interrupted')
})

test.each(['before', 'after'] as const)(
  'killed %s any write, none says that it was made before its apply has run',
  async (how) => {
    let [writes, isOver] = [0, false]
    while (!isOver) {
      const engine = aSmallEngine({ keepsStatesHere: true })
      engine.apply(eks)
      engine.objects.strike(++writes, how)
      isOver = await engine.pass().then(
        () => true,
        () => false,
      )
      const there = engine.is()
      const hasRun = engine.instant.calls.includes('apply')
      expect(there !== undefined && isMade(there) && !hasRun, `struck at write ${writes}`).toBe(false)
    }
    expect(writes).toBeGreaterThan(10)
  },
)

test('struck after everything is forgotten and before it is let go, it goes nevertheless', async () => {
  const engine = await createdHere()
  engine.objects.remove(clusterWide.workspace, key)
  const { client } = engine.objects
  const { patch } = client
  const isForgotten = () => records(engine).length === 0
  Object.assign(client, {
    patch: async (...args: Parameters<typeof patch>) =>
      isForgotten() ? Promise.reject(new Struck('before it is let go')) : patch(...args),
  })
  await expect(engine.pass()).rejects.toThrow('before it is let go')
  Object.assign(client, { patch })
  engine.restart()
  await engine.pass()
  expect(engine.is()).toBeUndefined()
})

test('deleted after an apply was killed, it is told what that may have made and no destroy finds', async () => {
  const engine = await createdHere()
  engine.apply({ ...eks, resources: { ...eks.resources, 'terraform_data.more': 1 } })
  endingSo(engine, {})
  await engine.pass()
  engine.events.length = 0
  engine.notes.length = 0
  engine.objects.remove(clusterWide.workspace, key)
  await engine.pass()
  expect(engine.events).toEqual(['Warning ApplyInterrupted', 'Normal DeletedExternalResource'])
  expect(engine.notes[0]).toMatch(
    /^the apply that began at .* was interrupted, and what it may have made is in no state, so it is not destroyed: terraform_data\.more; look whether that is there$/,
  )
})

test('a state that another family of command lines wrote is not touched', async () => {
  const engine = aSmallEngine()
  engine.apply(eks, {}, { annotations: { [ours.cli]: 'terraform 1.5.7' } })
  expect((await engine.pass()).wake).toBe('poll')
  expect(engine.instant.calls).toEqual([])
  expect(messageOf(engine.is())).toContain('connect failed: held: the state was written by terraform 1.5.7')
  expect(readPlanNote(notes(engine)[ours.plan])?.held).toBe('AnotherCLI')
})

test('nor is it destroyed', async () => {
  const engine = await created()
  engine.objects.change(clusterWide.workspace, key, { metadata: { annotations: { [ours.cli]: 'terraform 1.5.7' } } })
  engine.objects.remove(clusterWide.workspace, key)
  expect((await engine.pass()).wake).toBe('poll')
  expect(engine.instant.calls).toEqual([])
  expect(messageOf(engine.is())).toContain('held: the state was written by terraform 1.5.7')
})

test('one that came from elsewhere and needs no change is signed with its command line, once', async () => {
  const engine = await created()
  engine.objects.change(clusterWide.workspace, key, { metadata: { annotations: { [ours.cli]: null } } })
  await engine.pass()
  expect(notes(engine)[ours.cli]).toBe('tofu 1.12.6')
  const { length } = engine.objects.writes
  await engine.pass()
  expect(engine.objects.writes.length).toBe(length)
})

test('where nothing can be run, that is told', async () => {
  const engine = aSmallEngine()
  engine.blocked = 'no Terraform found: install OpenTofu'
  engine.apply(eks)
  await engine.pass()
  expect(messageOf(engine.is())).toBe('connect failed: no Terraform found: install OpenTofu')
})

test('what was only planned when the engine is told to end is not begun, and nothing is said of it', async () => {
  const engine = aSmallEngine()
  engine.apply(eks)
  engine.instant.onCommand = (name) => {
    if (name === 'plan') engine.isEnding = true
  }
  expect(await engine.pass()).toMatchObject({ wake: 'retry', says: '' })
  expect(engine.instant.calls).toEqual(['init', 'plan'])
  expect(notes(engine)).not.toHaveProperty([crossplane.createPending])
})

test('what is applied when the engine is told to end is told to its end', async () => {
  const engine = aSmallEngine()
  engine.apply(eks)
  engine.instant.onCommand = (name) => {
    if (name === 'apply') engine.isEnding = true
  }
  await engine.pass()
  expect(tell(engine.is())).toBe(settled)
})

test("another's Secret is not written, and that is told", async () => {
  const engine = aSmallEngine()
  const theirs: Secret = { apiVersion: 'v1', kind: 'Secret', metadata: connection, type: 'Opaque' }
  engine.objects.put(Secret, theirs)
  engine.apply(eks)
  await engine.pass()
  expect(messageOf(engine.is())).toBe(
    'create failed: cannot write connection details: Secret default/demo-conn is of type Opaque, not one of ours; choose another name in spec.writeConnectionSecretToRef',
  )
  expect(engine.instant.calls).toEqual(['init', 'plan'])
})

test('one that was made for an apply writes its connection Secret nowhere but in the namespace of the apply', async () => {
  const engine = aSmallEngine()
  engine.apply(eks, {}, { annotations: { [ours.apply]: 'team/demo' } })
  await engine.pass()
  expect(messageOf(engine.is())).toBe(
    'create failed: cannot write connection details: spec.writeConnectionSecretToRef leads to namespace default, but the Workspace is for team',
  )
  expect(engine.objects.get(Secret, connection)).toBeUndefined()
})

const shared = { annotations: { [crossplane.externalName]: 'demo' } }
const withBackend = { spec: { configuration: 'terraform {\n  backend "kubernetes" {}\n}\n' } }

test("another's state is not touched, and one that was never applied leaves without a trace of it", async () => {
  const engine = await created()
  engine.objects.change(clusterWide.providerConfig, { name: 'default' }, withBackend)
  const demo = engine.is()
  const younger = { name: 'younger' }
  if (demo) {
    const metadata = { ...younger, ...shared, finalizers: [ownFinalizer] }
    engine.objects.put(clusterWide.workspace, { ...demo, metadata, status: {} } as Workspace)
  }
  expect((await engine.pass(younger)).wake).toBe('retry')
  expect(messageOf(engine.objects.get(clusterWide.workspace, younger))).toBe(
    'connect failed: the state demo is already used by Workspace demo: set another crossplane.io/external-name',
  )
  engine.objects.remove(clusterWide.workspace, younger)
  await engine.pass(younger)
  expect(engine.objects.get(clusterWide.workspace, younger)).toBeUndefined()
  expect(engine.instant.calls).toEqual([])
  expect(engine.instant.states.get('demo')?.size).toBe(1)
})

const refusedBy = (what: string) =>
  new ApiError({ doing: what, code: 403, reason: 'Forbidden', message: 'exceeded quota' })

test('a plan that cannot be kept keeps nothing else from going on', async () => {
  const engine = aSmallEngine()
  engine.apply(eks)
  refuse(engine, 'create', /-plan$/)
  await engine.pass()
  expect(tell(engine.is())).toBe(settled)
})
// Writes of objects whose name is such are refused.
function refuse({ objects }: SmallEngine, verb: 'create' | 'patch', names: RegExp): void {
  const { [verb]: write } = objects.client
  const guarded = async (resource: Resource, what: KubeObject & Key, ...rest: never[]) => {
    if (names.test(what.name ?? what.metadata.name)) throw refusedBy(`${verb} ${resource.kind}`)
    return (write as (...all: unknown[]) => Promise<unknown>)(resource, what, ...rest)
  }
  Object.assign(objects.client, { [verb]: guarded })
}

test.each<[string, (engine: SmallEngine) => void, RegExp]>([
  [
    'annotations that do not fit',
    (engine) => refuse(engine, 'patch', /^demo$/),
    /^connect failed: cannot patch Workspace: 403 exceeded quota$/,
  ],
  [
    'a memory that cannot be kept',
    (engine) => refuse(engine, 'create', /^memory-/),
    /^create failed: cannot create Secret: 403 exceeded quota$/,
  ],
  [
    'a full disk after init',
    ({ instant }) => fillDisk(instant, 'noteInitialised'),
    /^connect failed: the work folder cannot be used: ENOSPC: no space left on device, write$/,
  ],
  [
    'a full disk before the apply',
    ({ instant }) => fillDisk(instant, 'noteRun'),
    /^create failed: the work folder cannot be used: ENOSPC: no space left on device, write$/,
  ],
  [
    'a plan that cannot be read',
    ({ instant: { terraform } }) =>
      Object.assign(terraform, {
        plan: async (): Promise<Ran> => ({ code: 2, out: '', err: '', ended: 'byItself' }),
        showPlan: async (): Promise<Ran> => ({ code: 0, out: 'nonsense', err: '', ended: 'byItself' }),
      }),
    /^observe failed: cannot read the plan: /,
  ],
])('%s: that is told, and nothing is applied', async (_, spoil, told) => {
  const engine = aSmallEngine()
  engine.apply(eks)
  spoil(engine)
  expect((await engine.pass()).wake).toBe('retry')
  expect(messageOf(engine.is())).toMatch(told)
  expect(engine.instant.calls).not.toContain('apply')
})
function fillDisk({ folders }: Instant, note: 'noteInitialised' | 'noteRun'): void {
  const { furnish } = folders
  const full = async () => {
    throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC', syscall: 'write' })
  }
  Object.assign(folders, {
    furnish: async (...asked: Parameters<typeof furnish>) => ({ ...(await furnish(...asked)), [note]: full }),
  })
}

test('outputs that are too many for a status are left out of it, which is told once', async () => {
  const large = 'x'.repeat(1_500_000)
  const engine = await created({ ...eks, outputs: { large } }, { writeConnectionSecretToRef: undefined } as never)
  expect(engine.is()?.status?.atProvider?.outputs).toEqual({})
  expect(tell(engine.is())).toBe(settled)
  const told = 'the outputs are not in the status: they have 1500012 bytes, and 1200000 fit'
  expect(messageOf(engine.is(), 'UpToDate')).toContain(told)
  const before = engine.objects.writes.length
  await engine.pass()
  engine.restart()
  await engine.pass()
  expect(engine.objects.writes.slice(before)).toEqual([])
})

test('where it is asked for, what commands print is logged, without secrets', async () => {
  const engine = aSmallEngine()
  const login = { namespace: 'default', name: 'login' }
  const data = { it: Buffer.from('open-sesame').toString('base64') }
  engine.objects.put(Secret, { apiVersion: 'v1', kind: 'Secret', metadata: login, data } as Secret)
  engine.apply({ ...eks, resources: { 'terraform_data.open-sesame': 1 } })
  change(engine, { env: [{ name: 'IT', secretKeyRef: { ...login, key: 'it' } }] })
  await engine.pass()
  expect(engine.logged).toEqual([])
  change(engine, { enableTerraformCLILogging: true, module: JSON.stringify({ resources: { 'a.open-sesame': 1 } }) })
  await engine.pass()
  expect(engine.logged.map((each) => /"command":"(\w+)","object":"demo"/.exec(each)?.[1])).toEqual(['plan', 'apply'])
  expect(engine.logged[0]).toContain('Plan: 1 to add')
  expect(engine.logged.join()).not.toContain('open-sesame')
})

test('where a module came from is told once it is there', async () => {
  const engine = aSmallEngine()
  engine.apply(eks)
  await engine.pass()
  expect(engine.is()?.status?.atProvider).not.toHaveProperty('remoteSource')
  const module = 'git::https://example.com/network.git?ref=v1'
  change(engine, { source: 'Remote', module })
  engine.instant.onCommand = (name) => {
    if (name === 'init') throw new Error('cannot be reached')
  }
  await engine.pass()
  expect(engine.is()?.status?.atProvider).not.toHaveProperty('remoteSource')
  engine.instant.onCommand = () => {}
  await engine.pass()
  expect(engine.is()?.status?.atProvider?.remoteSource).toBe(module)
})

test('a request to look is answered', async () => {
  const engine = await created(eks, {}, { annotations: { [crossplane.reconcileRequestedAt]: 'now' } })
  expect(engine.is()?.status?.lastHandledReconcileAt).toBe('now')
})

// Whatever write a pass is struck at, before or after it happened, the next lives end where an undisturbed one does.
test.each(['before', 'after'] as const)('killed %s any write of a whole life, it ends the same', async (how) => {
  const life = async (strike: number) => {
    const engine = aSmallEngine()
    let struck = 0
    engine.objects.strike(strike, how)
    const settle = async () => {
      for (let passes = 0; passes < 5; passes++) {
        try {
          if ((await engine.pass()).wake !== 'retry') return
        } catch (error) {
          if (!(error instanceof Struck)) throw error
          struck++
          engine.restart()
        }
      }
    }
    engine.apply(eks)
    await settle()
    const memory = engine.objects.list(Secret).find(({ metadata }) => metadata.name.startsWith('memory'))
    engine.apply({ ...eks, resources: { 'terraform_data.eks': 'demo2' } })
    await settle()
    const lived = {
      remembered: Object.keys(memory?.data ?? {}),
      conditions: tell(engine.is()),
      outputs: engine.is()?.status?.atProvider,
      secret: secretOf(engine),
    }
    engine.objects.remove(clusterWide.workspace, key)
    await settle()
    const left = [...engine.objects.list(clusterWide.workspace), ...engine.objects.list(clusterWide.usage)]
    const states = engine.instant.states.size
    return { struck, writes: engine.objects.writes.length, ended: { ...lived, left, states } }
  }
  const undisturbed = await life(0)
  expect(undisturbed.struck).toBe(0)
  expect(undisturbed.writes).toBeGreaterThan(20)
  for (let strike = 1; strike <= undisturbed.writes; strike++) {
    const { struck, ended } = await life(strike)
    expect(struck, `struck at write ${strike}`).toBe(1)
    expect(ended, `struck ${how} write ${strike}`).toEqual(undisturbed.ended)
  }
})

test('of two Workspaces on a new backend, the second is initialised when the first is', async () => {
  const engine = aSmallEngine()
  const other = { name: 'other' }
  engine.apply(eks)
  const demo = engine.is()
  if (demo) engine.objects.put(clusterWide.workspace, { ...demo, metadata: other })
  let running = 0
  let most = 0
  const { init } = engine.instant.terraform
  Object.assign(engine.instant.terraform, {
    async init(where: Parameters<typeof init>[0]) {
      most = Math.max(most, ++running)
      await new Promise(setImmediate)
      running--
      return init(where)
    },
  })
  await Promise.all([engine.pass(), engine.pass(other)])
  expect(most).toBe(1)
  expect(engine.instant.calls.filter((each) => each === 'init')).toHaveLength(2)
})

test('a first init that hangs keeps the others for no more than a minute', async () => {
  const engine = aSmallEngine()
  const other = { name: 'other' }
  engine.apply(eks)
  const demo = engine.is()
  if (demo) engine.objects.put(clusterWide.workspace, { ...demo, metadata: other })
  const { init } = engine.instant.terraform
  const hanging = Promise.withResolvers<void>()
  let inits = 0
  Object.assign(engine.instant.terraform, {
    async init(where: Furnished) {
      if (++inits === 1) await hanging.promise
      return init(where)
    },
  })
  const [first, second] = [engine.pass(), engine.pass(other)]
  await expect.poll(() => inits).toBe(1)
  await engine.clock.advance(59_000)
  expect(inits).toBe(1)
  await engine.clock.advance(1000)
  await second
  expect(inits).toBe(2)
  hanging.resolve()
  await first
})

test.each(['plan', 'destroy'])('a state that was left in the folder is brought home before the %s', async (before) => {
  const engine = await created()
  const uid = engine.is()?.metadata.uid ?? ''
  const left = JSON.stringify({ lineage: 'l', serial: 7, resources: [{}] })
  engine.instant.lefts.set(uid, left)
  if (before === 'destroy') engine.objects.remove(clusterWide.workspace, key)
  await engine.pass()
  expect(engine.instant.calls.slice(0, 2)).toEqual(['push', before])
})

test('a state that cannot be brought home is copied, told and kept, and nothing goes on', async () => {
  const engine = await created()
  const uid = engine.is()?.metadata.uid ?? ''
  engine.instant.lefts.set(uid, JSON.stringify({ lineage: 'l', serial: 7, resources: [{}] }))
  engine.instant.onCommand = (name) => {
    if (name === 'push') throw new Error('the disk is full')
  }
  expect((await engine.pass()).wake).toBe('retry')
  expect(engine.instant.calls).toEqual(['push'])
  expect(messageOf(engine.is(), 'Synced')).toMatch(
    /^observe failed: cannot write the state of the last run.*disk is full/,
  )
  const copies = engine.objects.list(Secret).filter(({ metadata }) => metadata.labels?.[labels.record] === 'state')
  expect(copies).toHaveLength(1)
  engine.instant.onCommand = () => {}
  expect((await engine.pass()).wake).toBe('poll')
  expect(engine.instant.lefts.size).toBe(0)
})

test('an orphan is let go when the state that was left in its folder is home, not before', async () => {
  const engine = await created(eks, { deletionPolicy: 'Orphan' })
  const uid = engine.is()?.metadata.uid ?? ''
  engine.instant.lefts.set(uid, JSON.stringify({ lineage: 'l', serial: 7, resources: [{}] }))
  engine.objects.remove(clusterWide.workspace, key)
  engine.instant.onCommand = (name) => {
    if (name === 'push') throw new Error('the disk is full')
  }
  expect((await engine.pass()).wake).toBe('retry')
  expect(messageOf(engine.is())).toMatch(/^observe failed: cannot write the state of the last run.*disk is full/)
  engine.instant.onCommand = () => {}
  await engine.pass()
  expect(engine.is()).toBeUndefined()
  expect(engine.instant.lefts.size).toBe(0)
})
