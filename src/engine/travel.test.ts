// A state that travels with its apply from one cluster to another, over an engine in memory on each side.
import { randomBytes } from 'node:crypto'
import { gunzipSync, gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import {
  aSmallEngine,
  clusterWide,
  key,
  messageOf,
  type SmallEngine,
  type SmallEngineOptions,
  stateKey,
  tell,
} from '../../test/engine.ts'
import type { Module } from '../../test/instant.ts'
import { annotations, labels } from '../api/keys.ts'
import { Lease, Secret } from '../api/neighbours.ts'
import type { JsonRecord } from '../api/record.ts'
import { crossplane } from '../api/workspace.ts'
import { ApiError } from '../kube/errors.ts'
import { luggageOn } from '../terraform/luggage.ts'
import { isStateMissing } from '../terraform/state.ts'
import { heldLease } from '../terraform/statesecret.ts'

const module: Module = { resources: { 'terraform_data.eks': 'demo' } }
const settled = 'Ready=True/Available Synced=True/ReconcileSuccess@1 UpToDate=True/ObserveMatched@1'
const luggageKey = { namespace: 'default', name: 'demo-state' }
const apply = { [annotations.apply]: 'default/demo' }
const notes = { ...apply, [annotations.revision]: 'first' }
const marked = { annotations: notes, labels: { [labels.apply]: 'default.demo' } }
const shell: Secret = { apiVersion: 'v1', kind: 'Secret', metadata: { ...luggageKey, annotations: apply } }

const luggage = ({ objects }: SmallEngine) => objects.get(Secret, luggageKey)
const noteOn = (engine: SmallEngine) => luggageOn(luggage(engine)?.metadata ?? {})
const stateIn = (secret: Secret | undefined) =>
  secret?.data?.['tfstate'] && gunzipSync(Buffer.from(secret.data['tfstate'], 'base64')).toString()

const copiesIn = ({ objects }: SmallEngine) =>
  objects
    .list(Secret)
    .filter(({ metadata }) => metadata.name.startsWith('state-'))
    .map(stateIn)

const s3 = (bucket: string) => ({ elsewhere: { type: 's3', config: { bucket } } })

async function aSource(options: SmallEngineOptions = { keepsStatesHere: true }) {
  const engine = aSmallEngine(options)
  engine.objects.put(Secret, shell)
  engine.apply(module, {}, marked)
  await engine.pass()
  expect(tell(engine.is())).toBe(settled)
  return engine
}

// What clusterctl brings: the Secret as it is there, under another uid. Terraform here reads its state where the engine put it.
function aTarget(secret: Secret | undefined, options: SmallEngineOptions = { keepsStatesHere: true }) {
  const engine = aSmallEngine(options)
  engine.objects.put(Secret, { ...shell, metadata: { name: 'of-another-cluster' } }) // so that uids are others
  if (secret) {
    const { uid: _, resourceVersion: __, managedFields: ___, ...metadata } = secret.metadata
    engine.objects.put(Secret, { ...secret, metadata })
  }
  engine.instant.onCommand = (name) => {
    const isThere = stateIn(engine.objects.get(Secret, stateKey))?.includes('terraform_data')
    if (name === 'plan' && isThere) engine.instant.states.set('demo', new Map(Object.entries(module.resources ?? {})))
  }
  engine.apply(module, {}, { annotations: notes })
  return engine
}

async function pauseForMove(engine: SmallEngine, since: string) {
  const paused = { [crossplane.paused]: 'true', [annotations.moved]: since }
  engine.objects.change(clusterWide.workspace, key, { metadata: { annotations: paused } })
  return engine.pass()
}

function approveAsTold(engine: SmallEngine) {
  const [, id] = /approve=([0-9a-f]{12})$/.exec(messageOf(engine.is())) ?? []
  engine.objects.change(clusterWide.workspace, key, { metadata: { annotations: { [annotations.approve]: id } } })
}

test('what an apply leaves is packed, with where it belongs, and again after the next', async () => {
  const engine = await aSource()
  expect(noteOn(engine)).toMatchObject({ backend: 'kubernetes', of: 'states/tfstate-demo-capt' })
  expect(stateIn(luggage(engine))).toBe(stateIn(engine.objects.get(Secret, stateKey)))
  const first = noteOn(engine)?.serial ?? 0
  engine.apply({ resources: { 'terraform_data.eks': 'other' } })
  await engine.pass()
  expect(noteOn(engine)?.serial).toBeGreaterThan(first)
  const { length } = engine.objects.writes
  await engine.pass()
  expect(engine.objects.writes).toHaveLength(length)
})

test('one whose Secret was deleted and made again is packed at the next poll', async () => {
  const engine = await aSource()
  engine.objects.remove(Secret, luggageKey)
  await engine.pass()
  engine.objects.put(Secret, shell)
  await engine.pass()
  expect(stateIn(luggage(engine))).toBe(stateIn(engine.objects.get(Secret, stateKey)))
})

test.each<[string, Partial<Secret['metadata']>]>([
  ['another apply', { annotations: { [annotations.apply]: 'default/other' } }],
  ['nobody', { annotations: {} }],
])('a Secret of that name which is of %s is left alone', async (_, metadata) => {
  const engine = aSmallEngine({ keepsStatesHere: true })
  engine.objects.put(Secret, { ...shell, metadata: { ...shell.metadata, ...metadata } })
  engine.apply(module, {}, { annotations: notes })
  await engine.pass()
  expect(luggage(engine)?.data).toBeUndefined()
})

test('a state in another backend needs not be packed', async () => {
  const engine = await aSource(s3('one'))
  expect(noteOn(engine)).toMatchObject({ backend: 'other', externalName: 'demo' })
  expect(luggage(engine)?.data?.['tfstate']).toBeUndefined()
})

test('a state that has no room in a Secret is not moved, which is said; what was packed before is gone from it', async () => {
  const engine = await aSource()
  const { resources, ...head } = JSON.parse(stateIn(engine.objects.get(Secret, stateKey)) ?? '') as JsonRecord
  const padding = randomBytes(1_100_000).toString('base64') // nothing makes that smaller
  const large = gzipSync(JSON.stringify({ ...head, resources, outputs: { padding } })).toString('base64')
  engine.objects.change(Secret, stateKey, { data: { tfstate: large } })
  await pauseForMove(engine, 'now')
  expect(messageOf(engine.is())).toBe(
    'cannot be moved yet: Secret default/demo-state has no room for its state: it cannot be moved',
  )
  expect(luggage(engine)?.metadata.annotations?.[annotations.moved]).toBeUndefined()
  expect(luggage(engine)?.data?.['tfstate']).toBeUndefined()
})

test('on the target the state is what it was, to the byte, before anything is planned, and nothing is made again', async () => {
  const source = await aSource()
  const target = aTarget(luggage(source))
  await target.pass()
  expect(tell(target.is())).toBe(settled)
  expect(target.instant.calls).not.toContain('apply')
  expect(stateIn(target.objects.get(Secret, stateKey))).toBe(stateIn(source.objects.get(Secret, stateKey)))
  expect(target.objects.get(Secret, stateKey)?.metadata.labels?.['tfstateWorkspace']).toBe('demo')
})

// What comes back to where a state is already: as it was when it left, and as it became elsewhere.
async function bring(
  { objects, ...engine }: SmallEngine,
  change: (state: string) => string,
): Promise<readonly string[]> {
  const before = stateIn(objects.get(Secret, luggageKey)) ?? ''
  const after = change(before)
  const { lineage, serial } = JSON.parse(after) as { lineage: string; serial: number }
  const note = JSON.stringify({ ...noteOn({ objects, ...engine }), lineage, serial, by: 'another' })
  objects.change(Secret, luggageKey, {
    metadata: { annotations: { [annotations.state]: note } },
    data: { tfstate: gzipSync(after).toString('base64') },
  })
  return [before, after]
}

async function comeBack(source: SmallEngine, change: (state: string) => string) {
  const [before, after] = await bring(source, change)
  source.instant.calls.length = 0
  await source.pass()
  const now = stateIn(source.objects.get(Secret, stateKey))
  return now === after ? 'what came' : now === before ? 'what was here' : now
}

test.each<[string, (state: string) => string, string]>([
  ['it was changed elsewhere', (state) => state.replace(/"serial":(\d+)/, '"serial":1$1'), 'what came'],
  ['what comes is older', (state) => state.replace(/"serial":\d+/, '"serial":0'), 'what was here'],
])('one that comes back to where it was goes on with the newest state: %s', async (_, change, found) => {
  const engine = await aSource()
  const old = stateIn(engine.objects.get(Secret, stateKey)) ?? ''
  expect(await comeBack(engine, change)).toBe(found)
  expect(tell(engine.is())).toBe(settled)
  expect(engine.instant.calls).not.toContain('apply')
  expect(copiesIn(engine)).toContain(old)
  expect(stateIn(luggage(engine))).toBe(stateIn(engine.objects.get(Secret, stateKey)))
})

test('one that comes back on a state of another lineage is held: which of both is true is not known', async () => {
  const engine = await aSource()
  const came = 'another lineage'
  const copies = copiesIn(engine)
  await comeBack(engine, (state) => state.replace(/"lineage":"[^"]*"/, `"lineage":"${came}"`))
  expect(copiesIn(engine).filter((each) => !copies.includes(each))).toEqual([stateIn(luggage(engine))]) // whatever is decided
  expect(isStateMissing(messageOf(engine.is()).replace('observe failed: ', ''))).toBe(true)
  expect(engine.instant.calls.filter((each) => each !== 'init')).toEqual([])
})

test('a Workspace that a backup brought back, with all signs that it was made, is on the state that came with its apply', async () => {
  const target = aTarget(luggage(await aSource()))
  const made = {
    [crossplane.createPending]: '2026-11-16T12:00:00Z',
    [crossplane.createSucceeded]: '2026-11-16T12:00:01Z',
  }
  target.objects.change(clusterWide.workspace, key, { metadata: { annotations: made } })
  await target.pass()
  expect(tell(target.is())).toBe(settled)
  expect(target.instant.calls).not.toContain('apply')
})

test('where nothing came back but the Workspace, nothing is made, and it is told how to bring the state from a file', async () => {
  const target = aTarget(shell)
  const made = { [crossplane.createSucceeded]: '2026-11-16T12:00:01Z' }
  target.objects.change(clusterWide.workspace, key, { metadata: { annotations: made } })
  await target.pass()
  expect(messageOf(target.is())).toContain(
    'capt state restore demo --namespace default --from FILE --secret states/tfstate-demo-capt)',
  )
  expect(target.instant.calls.filter((each) => each !== 'init')).toEqual([])
})

// As it was moved to a cluster before: what that found there was all there is to make.
async function movedOnce() {
  const target = aTarget(luggage(await aSource()))
  await target.pass()
  const { annotations: kept = {} } = target.is()?.metadata ?? {}
  expect(kept[crossplane.createSucceeded]).toBeUndefined()
  return { kept, secret: luggage(target) }
}

// As a backup brings it back: with its annotations and finalizers, and without a status.
function cameBack(kept: Readonly<Record<string, string>>) {
  const restored = aTarget(undefined)
  restored.apply(module, {}, { annotations: kept, finalizers: [crossplane.finalizer] })
  return restored
}

test('one that was moved before, and comes back from a backup before any Secret, makes nothing, and goes on when that is there', async () => {
  const { kept, secret } = await movedOnce()
  const restored = cameBack(kept)
  await restored.pass()
  expect(isStateMissing(messageOf(restored.is()).replace('observe failed: ', ''))).toBe(true)
  expect(restored.instant.calls).toEqual(['init'])
  if (secret) restored.objects.put(Secret, { ...secret, metadata: { ...shell.metadata, ...secret.metadata } })
  await restored.pass()
  expect(tell(restored.is())).toBe(settled)
  expect(restored.instant.calls).not.toContain('apply')
})

test('nor is it let go in silence, when it is deleted before any Secret is back', async () => {
  const restored = cameBack((await movedOnce()).kept)
  restored.objects.remove(clusterWide.workspace, key)
  await restored.pass()
  expect(messageOf(restored.is())).toContain(
    'delete failed: there is no state in Secret states/tfstate-demo-capt, although this was made before',
  )
})

test('nor is it moved on with an empty Secret', async () => {
  const restored = cameBack((await movedOnce()).kept)
  restored.objects.put(Secret, shell)
  await pauseForMove(restored, 'noon')
  expect(messageOf(restored.is())).toContain('nobody has looked for its state here yet: let it go on first')
})

// Nothing was run for it here.
async function deleteOn(target: SmallEngine) {
  const annotated = { ...notes, [crossplane.externalName]: 'demo' }
  target.objects.change(clusterWide.workspace, key, {
    metadata: { finalizers: [crossplane.finalizer], annotations: annotated },
  })
  target.instant.onCommand = (name) => {
    const isThere = stateIn(target.objects.get(Secret, stateKey))?.includes('eks')
    if (name === 'destroy' && isThere) target.instant.states.set('demo', new Map([['terraform_data.eks', 'demo']]))
  }
  target.objects.remove(clusterWide.workspace, key)
  await target.pass()
}

test('what was built elsewhere is destroyed when it is deleted here before anybody has looked at it', async () => {
  const target = aTarget(luggage(await aSource()))
  await deleteOn(target)
  expect(target.instant.cloud.calls).toEqual(['delete demo terraform_data.eks'])
  expect(target.is()).toBeUndefined()
  expect(noteOn(target)).toBeUndefined()
})

test.each<[string, (target: SmallEngine) => void, string]>([
  [
    'its ProviderConfig did not come',
    ({ objects }) => objects.remove(clusterWide.providerConfig, { name: 'default' }),
    'ProviderConfig.tf.upbound.io "default" not found',
  ],
  [
    'its state did not come',
    ({ objects }) => objects.change(Secret, luggageKey, { data: { tfstate: null } }),
    'there is no state in Secret states/tfstate-demo-capt, although',
  ],
])(
  'what was built elsewhere is not left behind in silence when it is deleted here, and %s',
  async (_, happens, says) => {
    const target = aTarget(luggage(await aSource()))
    happens(target)
    await deleteOn(target)
    expect(messageOf(target.is())).toContain(says)
    expect(noteOn(target)).toBeDefined()
  },
)

test.each<[string, object]>([
  ['goes on', {}],
  ['is deleted', { deletionPolicy: 'Delete' }],
])(
  'one that was moved away, and of which somebody has lifted only the pause, is not touched when it %s',
  async (_, spec) => {
    const engine = await aSource()
    await pauseForMove(engine, 'noon')
    engine.instant.calls.length = 0
    engine.objects.change(clusterWide.workspace, key, {
      metadata: { annotations: { [crossplane.paused]: null } },
      spec,
    })
    if ('deletionPolicy' in spec) engine.objects.remove(clusterWide.workspace, key)
    await engine.pass()
    expect(engine.instant.calls).toEqual([])
    expect(messageOf(engine.is())).toContain('it may have been moved to another cluster since noon')
  },
)

// As Terraform plans in a backend that has this state.
function knows(target: SmallEngine, ...addresses: readonly string[]) {
  target.instant.onCommand = (name) => {
    if (name === 'plan') target.instant.states.set('demo', new Map(addresses.map((each) => [each, 'demo'])))
  }
}

const more: Module = { resources: { 'terraform_data.eks': 'demo', 'terraform_data.late': 'demo' } }

test('a state from before what was applied, as a backup may have it, makes nothing again until somebody says so', async () => {
  const target = aTarget(luggage(await aSource()))
  knows(target, 'terraform_data.eks')
  target.apply(more)
  await target.pass()
  const message = messageOf(target.is())
  expect(message).toContain(
    'this plan would create what may have been made before: terraform_data.late; look whether that is there',
  )
  expect(target.instant.calls).not.toContain('apply')
  target.restart()
  await target.pass()
  expect(target.instant.calls).not.toContain('apply')
  approveAsTold(target)
  await target.pass()
  expect(target.instant.calls).toContain('apply')
  expect(noteOn(target)?.by).toBe(target.is()?.metadata.uid)
})

// As `capt state restore --from FILE` leaves it where the Workspace did not come back: in its place, and beside the apply.
async function fromFile() {
  const secret = luggage(await aSource())
  const { by: _, revision: __, cli: ___, ...note } = luggageOn(secret?.metadata ?? {}) ?? {}
  const annotated = { ...apply, [annotations.state]: JSON.stringify(note) }
  const target = aTarget(secret && { ...secret, metadata: { ...shell.metadata, annotations: annotated } })
  const { tfstate = '' } = secret?.data ?? {}
  const state: Secret = { apiVersion: 'v1', kind: 'Secret', metadata: stateKey, data: { tfstate } }
  target.objects.put(Secret, state)
  return target
}

test('a state from a file makes nothing again until somebody says so, whatever is asked for', async () => {
  const target = await fromFile()
  knows(target, 'terraform_data.eks')
  target.apply(more)
  await target.pass()
  expect(messageOf(target.is())).toContain(
    'would create what may have been made before: terraform_data.late; look whether',
  )
  expect(target.instant.calls).not.toContain('apply')
  approveAsTold(target)
  await target.pass()
  expect(tell(target.is())).toContain('Synced=True/ReconcileSuccess')
  expect(noteOn(target)?.by).toBe(target.is()?.metadata.uid)
})

test.each<[string, Module, boolean]>([
  ['lacks nothing', module, false],
  ['differs only in what is there', { resources: { 'terraform_data.eks': 'other' } }, true],
])('a state from a file that %s is gone on with at once', async (_, asked, isApplied) => {
  const target = await fromFile()
  knows(target, 'terraform_data.eks')
  target.apply(asked)
  await target.pass()
  expect(tell(target.is())).toContain('Synced=True/ReconcileSuccess')
  expect(target.instant.calls.includes('apply')).toBe(isApplied)
  knows(target)
  await target.pass() // it is like any other by now: what is lost is made again
  expect(tell(target.is())).toContain('Synced=True/ReconcileSuccess')
})

test('what is new in what is asked for is made at once, also where the state came from elsewhere', async () => {
  const target = aTarget(luggage(await aSource()))
  knows(target, 'terraform_data.eks')
  target.apply(more, {}, { annotations: { ...notes, [annotations.revision]: 'second' } })
  await target.pass()
  expect(target.instant.calls).toContain('apply')
})

test('what could not be made where it was is made where it came to', async () => {
  const source = await aSource()
  const fails = { apply: 'no capacity' }
  source.apply(
    { ...more, fails },
    {},
    { annotations: { ...source.is()?.metadata.annotations, [annotations.revision]: 'second' } },
  )
  await source.pass()
  const target = aTarget(luggage(source))
  knows(target, 'terraform_data.eks')
  target.apply(more, {}, { annotations: { ...notes, [annotations.revision]: 'second' } })
  await target.pass()
  expect(target.instant.calls).toContain('apply')
})

test('where the state is in the same backend, elsewhere, it goes on with it', async () => {
  const target = aTarget(luggage(await aSource(s3('one'))), s3('one'))
  knows(target, 'terraform_data.eks')
  await target.pass()
  expect(tell(target.is())).toBe(settled)
  expect(target.instant.calls).not.toContain('apply')
})

test.each<[string, SmallEngineOptions]>([
  ['in another bucket', s3('two')],
  ['in the folder of the engine', {}],
])('nothing is made where the backend is another than it was, %s, until somebody says so', async (_, options) => {
  const target = aTarget(luggage(await aSource(s3('one'))), options)
  target.apply(module, {}, { annotations: { ...notes, [annotations.revision]: 'second' } })
  await target.pass()
  expect(messageOf(target.is())).toContain('or is in another backend than it was, and this plan would create')
  expect(target.instant.calls).not.toContain('apply')
  await deleteOn(target)
  expect(messageOf(target.is())).toContain('there is no state in the backend, although this was made before')
  expect(target.instant.calls).not.toContain('destroy')
})

test('a state in the folder of the engine is not moved', async () => {
  const engine = await aSource({})
  await pauseForMove(engine, 'noon')
  expect(messageOf(engine.is())).toContain('cannot be moved yet: its state is in a folder of the engine')
})

test.each<[string, SmallEngineOptions]>([
  ['in this cluster', { keepsStatesHere: true }],
  ['elsewhere', s3('one')],
])('a state that another family of command lines has written, %s, is not gone on with', async (_, options) => {
  const target = aTarget(luggage(await aSource(options)), { ...options, family: 'terraform' })
  knows(target, 'terraform_data.eks')
  await target.pass()
  expect(messageOf(target.is())).toContain(
    'held: the state was written by tofu 1.12.6, and this engine runs terraform 1.12.6',
  )
  expect(target.instant.calls).toEqual(['init'])
  // Who takes the word away has made the state fit.
  target.objects.change(clusterWide.workspace, key, { metadata: { annotations: { [annotations.cli]: null } } })
  await target.pass()
  expect(tell(target.is())).toBe(settled)
})

test('a new apply, whose Secret is empty, is made', async () => {
  const target = aTarget(shell)
  await target.pass()
  expect(target.instant.calls).toContain('apply')
})

test.each<[string, (secret: Secret) => Secret, boolean]>([
  ['has lost the state', (secret) => ({ ...secret, data: {} }), true],
  [
    'has lost what is told of the state',
    ({ metadata, ...secret }) => ({ ...secret, metadata: { ...metadata, annotations: notes } }),
    true,
  ],
  [
    'is of another state',
    ({ metadata, ...secret }) => {
      const note = JSON.stringify({ ...luggageOn(metadata), externalName: 'other' })
      return {
        ...secret,
        metadata: { ...metadata, annotations: { ...metadata.annotations, [annotations.state]: note } },
      }
    },
    true,
  ],
  ['came to a cluster whose states are in another backend', (secret) => secret, false],
])('nothing is made where the Secret %s, until somebody says so', async (_, broken, keepsStatesHere) => {
  const secret = luggage(await aSource())
  const target = aTarget(secret && broken(secret), { keepsStatesHere })
  await target.pass()
  const message = messageOf(target.is())
  expect(isStateMissing(message.replace('observe failed: ', ''))).toBe(true)
  expect(target.instant.calls.filter((each) => each !== 'init')).toEqual([])
  approveAsTold(target)
  await target.pass()
  expect(target.instant.calls).toContain('apply')
})

test('one whose state was elsewhere and is to be here now is held, too', async () => {
  const secret = luggage(await aSource({ keepsStatesHere: false }))
  const target = aTarget(secret)
  await target.pass()
  expect(messageOf(target.is())).toContain('there is no state in Secret states/tfstate-demo-capt, although')
})

test('before a move the Secret is compared with the state, and then says that it was', async () => {
  const engine = await aSource()
  engine.objects.change(Secret, luggageKey, {
    data: { tfstate: null },
    metadata: { annotations: { [annotations.state]: null } },
  })
  engine.objects.change(Secret, luggageKey, {
    metadata: {
      annotations: { [annotations.state]: JSON.stringify({ backend: 'kubernetes', of: 'states/tfstate-demo-capt' }) },
    },
  })
  expect((await pauseForMove(engine, 'noon')).wake).toBe('onChange')
  expect(luggage(engine)?.metadata.annotations?.[annotations.moved]).toBe('noon')
  expect(stateIn(luggage(engine))).toBe(stateIn(engine.objects.get(Secret, stateKey)))
  expect(tell(engine.is())).toContain('Synced=False/ReconcilePaused')
  const { length } = engine.objects.writes
  await engine.pass()
  expect(engine.objects.writes).toHaveLength(length)
})

test.each<[string, (engine: SmallEngine) => void, string]>([
  [
    'its state is in use',
    ({ objects }) => {
      const lock = { id: 'theirs', who: 'me@here', operation: 'OperationTypeApply', created: 'noon' }
      objects.put(Lease, heldLease(stateKey, 'demo', lock))
    },
    'cannot be moved yet: its state is in use by me@here since noon (OperationTypeApply)',
  ],
  [
    'its state is gone',
    ({ objects }) => objects.remove(Secret, stateKey),
    'cannot be moved yet: there is no state in Secret states/tfstate-demo-capt that can be read',
  ],
  [
    'its Secret is not there',
    ({ objects }) => objects.remove(Secret, luggageKey),
    'cannot be moved yet: its Secret for the state is not there',
  ],
])('it is not ready to be moved while %s, and looks again', async (_, happens, says) => {
  const engine = await aSource()
  happens(engine)
  expect((await pauseForMove(engine, 'noon')).wake).toBe('retry')
  expect(messageOf(engine.is())).toBe(says)
  expect(luggage(engine)?.metadata.annotations?.[annotations.moved]).toBeUndefined()
})

test('what an apply that was killed has made is not known: it is not moved before it went on', async () => {
  const engine = await aSource()
  engine.apply({ resources: { 'terraform_data.eks': 'other' } })
  engine.instant.onCommand = (name) => {
    if (name !== 'apply') return
    engine.objects.strike(1, 'before') // what it would write next is not written
    throw new Error('killed')
  }
  await engine.pass().catch(() => {})
  engine.restart()
  await pauseForMove(engine, 'noon')
  expect(messageOf(engine.is())).toMatch(/^cannot be moved yet: what became of the apply that began at .* is not known/)
})

test.each<[string, (engine: SmallEngine) => void]>([
  [
    'was deleted and made again, with nothing in it',
    ({ objects }) => {
      objects.remove(Secret, luggageKey)
      objects.put(Secret, shell)
    },
  ],
  [
    'was stripped of what is told on it',
    ({ objects }) => {
      objects.change(Secret, luggageKey, { metadata: { annotations: { [annotations.state]: null } } })
    },
  ],
  ['was stripped of the state', ({ objects }) => objects.change(Secret, luggageKey, { data: { tfstate: null } })],
  [
    'was given another state',
    ({ objects }) => {
      objects.change(Secret, luggageKey, { data: { tfstate: Buffer.from('x').toString('base64') } })
    },
  ],
])('a Secret that %s is filled again before it is moved', async (_, happens) => {
  const engine = await aSource()
  happens(engine)
  await pauseForMove(engine, 'noon')
  expect(luggage(engine)?.metadata.annotations?.[annotations.moved]).toBe('noon')
  expect(noteOn(engine)).toMatchObject({ of: 'states/tfstate-demo-capt', cli: 'tofu 1.12.6' })
  expect(stateIn(luggage(engine))).toBe(stateIn(engine.objects.get(Secret, stateKey)))
})

test('what was built is not moved with an empty Secret where nobody knows its state', async () => {
  const engine = await aSource()
  engine.objects.remove(Secret, luggageKey)
  engine.objects.put(Secret, shell)
  for (const { metadata } of engine.objects.list(Secret))
    if (metadata.name.startsWith('memory-')) engine.objects.remove(Secret, { ...metadata })
  await pauseForMove(engine, 'noon')
  expect(messageOf(engine.is())).toBe(
    'cannot be moved yet: nobody has looked for its state here yet: let it go on first',
  )
  expect(luggage(engine)?.metadata.annotations?.[annotations.moved]).toBeUndefined()
})

test('what was never built can be moved', async () => {
  const engine = aSmallEngine({ keepsStatesHere: true })
  engine.objects.put(Secret, shell)
  engine.apply(module, {}, { annotations: notes })
  await pauseForMove(engine, 'noon')
  expect(luggage(engine)?.metadata.annotations?.[annotations.moved]).toBe('noon')
})

test('what waits for approval can be moved meanwhile', async () => {
  const engine = await aSource()
  engine.apply({ resources: {} }, {}, { annotations: { ...notes, [annotations.guard]: 'Hold' } })
  engine.objects.remove(Secret, luggageKey)
  engine.objects.put(Secret, shell)
  await engine.pass()
  expect(messageOf(engine.is())).toContain('held for approval')
  expect(stateIn(luggage(engine))).toBe(stateIn(engine.objects.get(Secret, stateKey)))
  await pauseForMove(engine, 'noon')
  expect(luggage(engine)?.metadata.annotations?.[annotations.moved]).toBe('noon')
})

test('whoever may write the Secret gets no other state by it', async () => {
  const engine = await aSource()
  const theirs = { ...stateKey, name: 'tfstate-others-capt' }
  const bytes = gzipSync('{"lineage":"theirs","serial":9}').toString('base64')
  const secret: Secret = { apiVersion: 'v1', kind: 'Secret', metadata: theirs, data: { tfstate: bytes } }
  engine.objects.put(Secret, secret)
  const note = JSON.stringify({ ...noteOn(engine), of: 'states/tfstate-others-capt' })
  engine.objects.change(Secret, luggageKey, { metadata: { annotations: { [annotations.state]: note } } })
  await pauseForMove(engine, 'noon')
  expect(noteOn(engine)?.of).toBe('states/tfstate-demo-capt')
  expect(stateIn(luggage(engine))).not.toContain('theirs')
})

test('a Secret with a newer state than the one that is here is not filled with the older: first it goes on', async () => {
  const engine = await aSource()
  await bring(engine, (state) => state.replace(/"serial":(\d+)/, '"serial":1$1'))
  const before = stateIn(luggage(engine))
  await pauseForMove(engine, 'noon')
  expect(messageOf(engine.is())).toMatch(/^cannot be moved yet: Secret default\/demo-state holds a newer state/)
  expect(stateIn(luggage(engine))).toBe(before)
})

test('a Secret that cannot be written keeps nothing from going on, or from going, but a move', async () => {
  const engine = await aSource()
  engine.objects.change(Secret, luggageKey, { data: { tfstate: null } })
  const { client } = engine.objects
  const patch = client.patch.bind(client)
  Object.assign(client, {
    async patch(...[resource, object, ...rest]: Parameters<typeof patch>) {
      if (resource.kind === 'Secret' && object.name === luggageKey.name)
        throw new ApiError({ doing: 'patch it', code: 422, reason: 'Invalid', message: 'field is immutable' })
      return patch(resource, object, ...rest)
    },
  })
  engine.apply({ resources: { 'terraform_data.eks': 'other' } })
  await engine.pass()
  expect(tell(engine.is())).toContain('Synced=True')
  await pauseForMove(engine, 'noon')
  expect(messageOf(engine.is())).toContain(
    'cannot be moved yet: Secret default/demo-state cannot be written: cannot patch it: 422',
  )
  engine.objects.change(clusterWide.workspace, key, {
    metadata: { annotations: { [crossplane.paused]: null, [annotations.moved]: null } },
  })
  engine.objects.remove(clusterWide.workspace, key)
  await engine.pass()
  expect(engine.is()).toBeUndefined()
})

test('what was moved away is not asked for again and again, whoever starts anew', async () => {
  const engine = await aSource()
  await pauseForMove(engine, 'noon')
  engine.objects.remove(Secret, luggageKey)
  engine.restart()
  expect((await engine.pass()).wake).toBe('onChange')
  expect(tell(engine.is())).toContain('Synced=False/ReconcilePaused')
})

// As `capt cleanup moved` does it, once clusterctl has taken the apply away.
async function cleanUp(engine: SmallEngine) {
  if (luggage(engine)) engine.objects.remove(Secret, luggageKey)
  engine.objects.change(clusterWide.workspace, key, { spec: { deletionPolicy: 'Orphan' } })
  engine.objects.remove(clusterWide.workspace, key)
  engine.objects.change(clusterWide.workspace, key, { metadata: { annotations: { [crossplane.paused]: null } } })
  await engine.pass()
  expect(engine.is()).toBeUndefined()
}

test('what was moved away leaves a copy of its state, and nothing that another of its name would find', async () => {
  const engine = await aSource()
  const state = stateIn(luggage(engine))
  await pauseForMove(engine, 'noon')
  await cleanUp(engine)
  expect(engine.objects.get(Secret, stateKey)).toBeUndefined()
  expect(copiesIn(engine)).toEqual([state])
  expect(engine.instant.cloud.calls).not.toContain('delete demo terraform_data.eks')

  engine.instant.states.clear()
  engine.instant.calls.length = 0
  engine.objects.put(Secret, shell)
  engine.apply(module, {}, marked)
  await engine.pass()
  expect(engine.instant.calls).toContain('apply')
  engine.objects.remove(clusterWide.workspace, key)
  await engine.pass()
  expect(engine.is()).toBeUndefined()
  expect(copiesIn(engine)).toEqual([state])
})

// It was moved away, and what was left of it was removed.
async function aReturn(options?: SmallEngineOptions): Promise<SmallEngine> {
  const engine = await aSource(options)
  await pauseForMove(engine, 'noon')
  const secret = luggage(engine)
  await cleanUp(engine)
  if (secret) engine.objects.put(Secret, secret)
  engine.instant.calls.length = 0
  engine.apply(module, {}, marked)
  await engine.pass()
  return engine
}

test('what was moved away and comes back goes on with the state that it brings', async () => {
  const engine = await aReturn()
  expect(tell(engine.is())).toBe(settled)
  expect(engine.instant.calls).not.toContain('apply')
  engine.objects.remove(clusterWide.workspace, key)
  await engine.pass()
  expect(copiesIn(engine)).toEqual([])
})

test('the only state there is stays, with all that is known of it, where nobody has handed it over', async () => {
  const engine = await aSource()
  const state = stateIn(luggage(engine))
  engine.objects.remove(Secret, luggageKey)
  await pauseForMove(engine, 'noon')
  await cleanUp(engine)
  expect(stateIn(engine.objects.get(Secret, stateKey))).toBe(state)
  expect(copiesIn(engine)).toEqual([state])
})

test("the state of what was moved away is nobody else's, also where its Workspace was torn away", async () => {
  const engine = await aSource()
  await pauseForMove(engine, 'noon')
  engine.objects.change(clusterWide.workspace, key, { metadata: { finalizers: [] } })
  engine.objects.remove(clusterWide.workspace, key)
  engine.objects.remove(Secret, luggageKey)
  engine.objects.put(Secret, shell)
  engine.instant.calls.length = 0
  engine.apply(module, {}, { annotations: notes })
  await engine.pass()
  const message = messageOf(engine.is())
  expect(isStateMissing(message.replace('observe failed: ', ''))).toBe(true)
  expect(message).toContain('what was built with it was moved to another cluster (noon); give the apply another name')
  expect(engine.instant.calls).toEqual(['init'])
  engine.objects.remove(clusterWide.workspace, key)
  await engine.pass()
  expect(engine.is()).toBeUndefined()
  expect(stateIn(engine.objects.get(Secret, stateKey))).toContain('eks')
})

// A new one of the name of one that was moved away, asked for with something else, where both have their states in the same backend.
async function anotherOfItsName(notesOfIt: Readonly<Record<string, string>> = notes) {
  const engine = await aSource(s3('one'))
  await pauseForMove(engine, 'noon')
  await cleanUp(engine)
  engine.instant.calls.length = 0
  engine.objects.put(Secret, shell)
  engine.apply({ resources: {} }, {}, { ...marked, annotations: notesOfIt })
  await engine.pass()
  return engine
}

test('where the state is elsewhere, another of its name does not work on it either, and leaves it there when it goes', async () => {
  const engine = await anotherOfItsName()
  const message = messageOf(engine.is())
  expect(isStateMissing(message.replace('observe failed: ', ''))).toBe(true)
  expect(message).toContain(
    'although one may be there: what was built with it was moved to another cluster (noon); give',
  )
  expect(engine.instant.calls).toEqual(['init'])
  engine.objects.remove(clusterWide.workspace, key)
  await engine.pass()
  expect(engine.is()).toBeUndefined()
  expect(engine.instant.states.get('demo')?.has('terraform_data.eks')).toBe(true)
  engine.restart()
  engine.apply({ resources: {} }, {}, marked)
  await engine.pass()
  expect(messageOf(engine.is())).toContain('was moved to another cluster (noon)')
})

test('nothing but that is remembered of what was moved away, with a state elsewhere', async () => {
  const engine = await anotherOfItsName()
  const memory = engine.objects.list(Secret).find(({ metadata }) => metadata.name.startsWith('memory-'))
  expect(Object.keys(memory?.data ?? {}).toSorted()).toEqual(['home', 'moved'])
})

test('one whose state is elsewhere is looked after again when somebody says so, a plan that waits included', async () => {
  const engine = await anotherOfItsName({ ...notes, [annotations.guard]: 'Hold' })
  approveAsTold(engine)
  await engine.pass()
  expect(messageOf(engine.is())).toContain('held for approval: this plan deletes 1')
  approveAsTold(engine)
  await engine.pass()
  expect(tell(engine.is())).toContain('Synced=True/ReconcileSuccess')
  expect(engine.instant.cloud.calls).toContain('delete demo terraform_data.eks')
  await engine.pass()
  expect(tell(engine.is())).toContain('Synced=True/ReconcileSuccess')
})

test('where the state is elsewhere, what was moved away and comes back goes on with it', async () => {
  const engine = await aReturn(s3('one'))
  expect(tell(engine.is())).toBe(settled)
  expect(engine.instant.calls).not.toContain('apply')
})

test('one that was paused before anything was built, with a state elsewhere, is built when the pause ends', async () => {
  const engine = aSmallEngine(s3('one'))
  engine.objects.put(Secret, shell)
  engine.apply(module, {}, marked)
  await pauseForMove(engine, 'noon')
  const goesOn = { [crossplane.paused]: null, [annotations.moved]: null }
  engine.objects.change(clusterWide.workspace, key, { metadata: { annotations: goesOn } })
  await engine.pass()
  expect(tell(engine.is())).toBe(settled)
})

test('in another backend than what was moved away had, another of its name begins anew', async () => {
  const config = { bucket: 'one' }
  const engine = await aSource({ elsewhere: { type: 's3', config } })
  await pauseForMove(engine, 'noon')
  await cleanUp(engine)
  config.bucket = 'two'
  engine.instant.states.clear()
  engine.objects.put(Secret, shell)
  engine.apply(module, {}, marked)
  await engine.pass()
  expect(tell(engine.is())).toBe(settled)
})

test.each<[string, SmallEngineOptions]>([
  ['here', { keepsStatesHere: true }],
  ['elsewhere', s3('one')],
])('a pause that ended without a move leaves nothing to be asked about, with a state %s', async (_, options) => {
  const engine = await aSource(options)
  await pauseForMove(engine, 'noon')
  engine.objects.change(clusterWide.workspace, key, {
    metadata: { annotations: { [crossplane.paused]: null, [annotations.moved]: null } },
  })
  await engine.pass()
  expect(tell(engine.is())).toBe(settled)
  const { length } = engine.objects.writes
  await engine.pass()
  expect(engine.objects.writes).toHaveLength(length)
})

test.each<[string, boolean]>([
  ['the first', true],
  ['a later one', false],
])('an apply that was planned when the pause came is not begun, and can be moved at once: %s', async (_, isFirst) => {
  const engine = isFirst ? aSmallEngine({ keepsStatesHere: true }) : await aSource()
  if (isFirst) engine.objects.put(Secret, shell)
  engine.apply(
    { resources: { 'terraform_data.eks': 'other' } },
    {},
    { annotations: { ...engine.is()?.metadata.annotations, ...notes } },
  )
  const paused = { [crossplane.paused]: 'true', [annotations.moved]: 'noon' }
  engine.instant.onCommand = (name) => {
    if (name === 'plan') engine.objects.change(clusterWide.workspace, key, { metadata: { annotations: paused } })
  }
  engine.instant.calls.length = 0
  await engine.pass()
  expect(engine.instant.calls).not.toContain('apply')
  expect(luggage(engine)?.metadata.annotations?.[annotations.moved]).toBe('noon')
  expect(tell(engine.is())).toContain('Synced=False/ReconcilePaused')
  expect(messageOf(engine.is())).toBe('')
})

test('of what is destroyed nothing is left to be moved', async () => {
  const engine = await aSource()
  engine.objects.remove(clusterWide.workspace, key)
  await engine.pass()
  expect(engine.is()).toBeUndefined()
  expect(noteOn(engine)).toBeUndefined()
  expect(Object.keys(luggage(engine)?.data ?? {})).toEqual([])
})
