// The commands over an API server in memory, with copies as the engine writes them.
import { gunzipSync, gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { objectsInMemory } from '../../test/objects.ts'
import { annotations, labels } from '../api/keys.ts'
import { Lease, Secret } from '../api/neighbours.ts'
import { crossplane, type Workspace, workspaceAPIs } from '../api/workspace.ts'
import { WorkspaceTemplateApply } from '../api/workspacetemplateapply.ts'
import { applyLabelOf, recordIdOf } from '../terraform/identity.ts'
import { bytesIn, luggageOn } from '../terraform/luggage.ts'
import { copySecrets, readCopies } from '../terraform/statecopy.ts'
import { heldLease, stateNamespace, stateSecretOf } from '../terraform/statesecret.ts'
import { exportState } from './stateexport.ts'
import { listStates } from './statelist.ts'
import { type Restoring, restoreState } from './staterestore.ts'

const api = workspaceAPIs['tf.m.upbound.io']
const apply = { namespace: 'team', name: 'net' }
const key = { namespace: stateNamespace, name: 'tfstate-team.net-capt' }
const resource = (name: string) => ({ mode: 'managed', type: 'aws_vpc', name, instances: [{}] })
const aState = (serial: number, lineage = 'ours') =>
  JSON.stringify({
    version: 4,
    lineage,
    serial,
    resources: Array.from({ length: serial }, (_, at) => resource(`r${at}`)),
  })

function aWorld() {
  const objects = objectsInMemory()
  const workspace: Workspace = {
    apiVersion: 'tf.m.upbound.io/v1beta1',
    kind: 'Workspace',
    metadata: {
      ...apply,
      labels: { [labels.apply]: applyLabelOf(apply) },
      annotations: { [crossplane.externalName]: 'team.net', [annotations.revision]: 'r3' },
    },
    spec: { forProvider: { source: 'Inline', module: '' } },
  }
  objects.put(api.workspace, workspace)
  objects.put(WorkspaceTemplateApply, {
    apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1',
    kind: 'WorkspaceTemplateApply',
    metadata: { ...apply, annotations: { [annotations.workspace]: 'tf.m.upbound.io/net' } },
  })
  const about = {
    namespace: stateNamespace,
    labels: { [labels.apply]: applyLabelOf(apply), [labels.recordOf]: recordIdOf(api.group, workspace.metadata) },
  }
  const keep = (serial: number) =>
    copySecrets(
      {
        bytes: gzipSync(aState(serial)),
        head: { lineage: 'ours', serial, isEmpty: false },
        takenAt: `2026-11-17T12:0${serial}:00.000Z`,
        revision: `r${serial}`,
        taken: 'after',
        resources: serial,
        of: `${key.namespace}/${key.name}`,
      },
      about,
    ).map((secret) => (objects.put(Secret, secret), secret.metadata.name.slice(-12)))[0] ?? ''
  const ids = [2, 3].map(keep)
  const put = (text: string) => {
    const secret = stateSecretOf(key, 'team.net', gzipSync(text))
    if (secret) objects.put(Secret, secret)
  }
  const asked = { client: objects.client, ...apply }
  const said: string[] = []
  const restore = async (how: Partial<Restoring>) =>
    restoreState({
      ...asked,
      which: { at: 'latest' },
      isForced: false,
      who: 'me@here',
      id: () => 'lock-id',
      now: () => new Date('2026-11-17T13:00:00Z'),
      say: (line) => void said.push(line),
      agrees: async () => true,
      ...how,
    })
  const now = () => {
    const { tfstate } = objects.get(Secret, key)?.data ?? {}
    return tfstate && gunzipSync(Buffer.from(tfstate, 'base64')).toString()
  }
  return { objects, asked, ids, put, now, restore, said }
}

test('what is there and the copies of it are listed, the newest first', async () => {
  const { asked, ids, put } = aWorld()
  put(aState(3))
  const [older, newer] = ids
  expect(await listStates(asked)).toBe(
    [
      'Secret capt-terraform-state/tfstate-team.net-capt: serial 3, 3 resources, lineage ours',
      '',
      'COPY          TAKEN                 SERIAL  RESOURCES  REVISION  LINEAGE',
      `${newer}  2026-11-17T12:03:00Z  3       3          after r3  ours`,
      `${older}  2026-11-17T12:02:00Z  2       2          after r2  ours`,
      '',
    ].join('\n'),
  )
})

test('of an apply that is gone its copies are listed; of one that never was, that is said', async () => {
  const { asked, objects } = aWorld()
  objects.remove(WorkspaceTemplateApply, apply)
  expect(await listStates(asked)).toMatch(/^Secret \S+: there is no state\n\nCOPY/)
  await expect(listStates({ ...asked, name: 'other' })).rejects.toThrow(
    'there is no WorkspaceTemplateApply team/other, and no copy of its state',
  )
})

test('a state is exported as it is, or as a copy has it', async () => {
  const { asked, ids, put } = aWorld()
  await expect(exportState(asked)).rejects.toThrow('export a copy with --at latest')
  put(aState(5))
  expect(await exportState(asked)).toEqual({ text: aState(5), serial: 5 })
  expect(await exportState(asked, 'latest')).toEqual({ text: aState(3), serial: 3 })
  expect(await exportState(asked, ids[0]?.slice(0, 6))).toEqual({ text: aState(2), serial: 2 })
  await expect(exportState(asked, 'nonsense')).rejects.toThrow('there is no copy nonsense')
})

test('a state that is gone is back to the byte, as a backend finds it, and the engine is woken', async () => {
  const { restore, now, said, objects } = aWorld()
  expect(await restore({})).toBe(true)
  expect(now()).toBe(aState(3))
  expect(objects.get(Secret, key)?.metadata.labels?.['tfstateWorkspace']).toBe('team.net')
  expect(objects.get(Lease, { ...key, name: `lock-${key.name}` })?.spec?.holderIdentity).toBeUndefined()
  expect(objects.get(api.workspace, apply)?.metadata.annotations?.[crossplane.reconcileRequestedAt]).toBeDefined()
  expect(said.map((line) => line.split(' ')[0])).toEqual(['now', 'restored', 'then', 'done'])
})

test('what is replaced is kept as a copy, and a serial is never used twice', async () => {
  const { restore, now, put, ids, objects, said } = aWorld()
  put(aState(6))
  await restore({ which: { at: ids[0] ?? '' } })
  expect(JSON.parse(now() ?? '')).toEqual({ ...JSON.parse(aState(2)), serial: 7 })
  expect(readCopies(objects.list(Secret)).map(({ serial }) => serial)).toEqual([6, 3, 2])
  expect(said.join('\n')).toContain('careful    it is older than serial 6')
})

test.each<[string, (world: ReturnType<typeof aWorld>) => Partial<Restoring>, string]>([
  [
    'is of another lineage',
    () => ({ which: { text: aState(9, 'other'), name: 'file' } }),
    'file is not restored: it is of another lineage (other, and here was ours)',
  ],
  [
    'is no state',
    () => ({ which: { text: 'no', name: 'file' } }),
    'file is not restored: what is to be restored is no state',
  ],
  [
    'is in use',
    ({ objects }) => {
      const lock = { id: 'theirs', who: 'engine@pod', operation: 'OperationTypeApply', created: 'noon' }
      objects.put(Lease, heldLease(key, 'team.net', lock))
      return {}
    },
    'the state is in use by engine@pod since noon (OperationTypeApply): wait',
  ],
  [
    'has changed since it was asked for',
    ({ put }) => ({
      agrees: async () => {
        put(aState(8))
        return true
      },
    }),
    'the state has changed meanwhile',
  ],
  [
    'is to be put where no such state can be',
    () => ({ secret: { namespace: 'x', name: 'tfstate-other-capt' } }),
    'does not fit into Secret x/tfstate-other-capt',
  ],
])('nothing is restored when the state %s', async (_, how, says) => {
  const world = aWorld()
  const more = how(world)
  await expect(world.restore(more)).rejects.toThrow(says)
  expect([undefined, aState(8)]).toContain(world.now())
  const lease = world.objects.get(Lease, { ...key, name: `lock-${key.name}` })
  expect(lease?.spec?.holderIdentity ?? undefined).toBe(says.includes('in use') ? 'theirs' : undefined)
})

test('nor when whoever is asked does not want it; and what is there already is not written', async () => {
  const { restore, now, put, objects, said } = aWorld()
  expect(await restore({ agrees: async () => false })).toBe(false)
  expect(now()).toBeUndefined()
  put(aState(3))
  const { length } = objects.writes
  expect(await restore({})).toBe(true)
  expect(objects.writes).toHaveLength(length)
  expect(said.at(-1)).toMatch(/copy \w+ is what is there$/)
})

test('a file is restored where no copy is left, to the Secret that is named', async () => {
  const { restore, now, objects } = aWorld()
  for (const { metadata } of objects.list(Secret)) objects.remove(Secret, metadata)
  const which = { text: aState(4), name: 'file' }
  await expect(restore({ which })).rejects.toThrow('name its Secret with --secret')
  await restore({ which, secret: key })
  expect(now()).toBe(aState(4))
})

test.each<[string, string | undefined]>([
  ['is lost', undefined],
  ['is there', aState(4)],
])(
  'an apply that came back without a Workspace, and whose state %s, has it as if it had been moved here',
  async (_, there) => {
    const { restore, put, objects } = aWorld()
    objects.remove(api.workspace, apply)
    if (there !== undefined) put(there)
    await restore({ which: { text: aState(4), name: 'file' }, secret: key })
    const luggage = objects.get(Secret, { namespace: 'team', name: 'net-state' })
    expect(luggage?.metadata.annotations?.[annotations.apply]).toBe('team/net')
    const bytes = luggage && bytesIn(luggage, { group: api.group, externalName: 'team.net' })
    expect(gunzipSync(bytes ?? '').toString()).toBe(aState(4))
  },
)

const carrierKey = { namespace: 'team', name: 'net-state' }
const told = (serial: number, lineage = 'ours') => ({
  backend: 'kubernetes' as const,
  group: api.group,
  externalName: 'team.net',
  of: `${key.namespace}/${key.name}`,
  lineage,
  serial,
})

// The Secret that travels with the apply, whose Workspace did not come back with it.
function aCarrier(objects: ReturnType<typeof aWorld>['objects']) {
  objects.remove(api.workspace, apply)
  const put = (state: string | undefined, notes: Readonly<Record<string, string>> = {}) => {
    const data = state === undefined ? {} : { tfstate: gzipSync(state).toString('base64') }
    const metadata = { ...carrierKey, annotations: notes }
    const secret: Secret = { apiVersion: 'v1', kind: 'Secret', metadata, data }
    objects.put(Secret, secret)
  }
  const is = () => {
    const { metadata = { name: '' }, data } = objects.get(Secret, carrierKey) ?? {}
    const text = gunzipSync(Buffer.from(data?.['tfstate'] ?? '', 'base64')).toString()
    return { text, luggage: luggageOn(metadata), whose: metadata.annotations?.[annotations.apply], metadata }
  }
  return { put, is }
}
const ours = { [annotations.apply]: 'team/net' }
const noted = (serial: number, more = {}) => ({
  ...ours,
  [annotations.state]: JSON.stringify({ ...told(serial), ...more }),
})
const file = (...of: Parameters<typeof aState>) => ({ which: { text: aState(...of), name: 'file' }, secret: key })

test.each<[string, string | undefined, Readonly<Record<string, string>>]>([
  ['is empty, and stripped of whose it is', undefined, {}],
  ['is stripped of all that is told on it', aState(3), {}],
  ['is stripped of whose it is', aState(3), { [annotations.state]: JSON.stringify(told(3)) }],
  ['is empty', undefined, ours],
  ['holds an older one', aState(3), noted(3, { by: 'somebody' })],
])('a state is put into the Secret that came with its apply, when that %s', async (_, state, notes) => {
  const { objects, restore, said } = aWorld()
  const { put, is } = aCarrier(objects)
  put(state, notes)
  expect(await restore(file(4))).toBe(true)
  expect(is()).toMatchObject({ text: aState(4), whose: 'team/net' })
  expect(is().luggage).toEqual(told(4))
  expect(is().metadata.labels?.[labels.apply]).toBe(applyLabelOf(apply))
  expect(said.slice(-2).map((line) => line.split(' ')[0])).toEqual(['brought', 'done'])
})

test('restored a second time, of another lineage, what travels is that, and what did before is kept', async () => {
  const { objects, restore } = aWorld()
  const { is } = aCarrier(objects)
  await restore(file(4))
  objects.remove(Secret, key)
  const { length } = objects.writes
  await expect(restore(file(1, 'other'))).rejects.toThrow('it is of another lineage (other, and here was ours)')
  expect(objects.writes).toHaveLength(length)
  await restore({ ...file(1, 'other'), isForced: true })
  expect([is().text, is().luggage]).toEqual([aState(1, 'other'), told(1, 'other')])
  expect(readCopies(objects.list(Secret)).map(({ serial }) => serial)).toContain(4)
})

test.each<[string, Readonly<Record<string, string>>, boolean]>([
  ['as it is', noted(9, { by: 'somebody', revision: 'r' }), false],
  ['as the one of this apply, if it was stripped of whose it is', {}, true],
])('a newer one that travels with the apply stays there, %s', async (_, notes, isMarked) => {
  const { objects, put, restore } = aWorld()
  const carrier = aCarrier(objects)
  carrier.put(aState(9), notes)
  put(aState(4))
  const { metadata } = carrier.is()
  expect(await restore(file(4))).toBe(true)
  expect(carrier.is()).toMatchObject({ text: aState(9), whose: 'team/net', luggage: told(9) })
  expect(carrier.is().metadata.resourceVersion === metadata.resourceVersion).toBe(!isMarked)
})

test.each<[string, (carrier: ReturnType<typeof aCarrier>, world: ReturnType<typeof aWorld>) => void, string]>([
  [
    'is of another apply',
    ({ put }) => put(aState(3), { [annotations.apply]: 'team/other' }),
    'Secret team/net-state, which is to hold the state as well, is of the apply team/other: remove it',
  ],
  [
    'holds something else',
    (_, { objects }) => {
      const secret: Secret = { apiVersion: 'v1', kind: 'Secret', metadata: carrierKey, data: { password: 'eA==' } }
      objects.put(Secret, secret)
    },
    'Secret team/net-state, which is to hold the state as well, holds something else: remove it',
  ],
  [
    'holds one of another lineage than what is there',
    ({ put }, world) => {
      put(aState(3, 'other'), ours)
      world.put(aState(4))
    },
    'Secret team/net-state holds a state of another lineage (other, and what is restored is of ours): with --force',
  ],
])('nothing is written when the Secret that came with the apply %s', async (_, happens, says) => {
  const world = aWorld()
  happens(aCarrier(world.objects), world)
  const { length } = world.objects.writes
  await expect(world.restore(file(4))).rejects.toThrow(says)
  expect(world.objects.writes).toHaveLength(length)
})

test('that the Secret which came with the apply has changed meanwhile is said, and mended when it is tried again', async () => {
  const { objects, restore, now, said } = aWorld()
  const { put, is } = aCarrier(objects)
  put(aState(3))
  const agrees = async () => {
    objects.change(Secret, carrierKey, { metadata: { labels: { a: 'b' } } })
    return true
  }
  await expect(restore({ ...file(4), agrees })).rejects.toThrow(
    'the state is restored, but Secret team/net-state has changed meanwhile',
  )
  expect([now(), is().whose]).toEqual([aState(4), undefined])
  expect(said.join('\n')).not.toContain('done')
  expect(await restore(file(4))).toBe(true)
  expect(is()).toMatchObject({ text: aState(4), whose: 'team/net' })
})

test('where nothing is known of any other state, that is said', async () => {
  const { restore, objects, said } = aWorld()
  for (const { metadata } of objects.list(Secret)) objects.remove(Secret, metadata)
  await restore(file(4))
  expect(said.join('\n')).toContain('careful    nobody knows whether it is the last one')
})

test('where no copy is left, what travels with the apply says of which lineage the state was', async () => {
  const { restore, objects } = aWorld()
  for (const { metadata } of objects.list(Secret)) objects.remove(Secret, { ...metadata })
  const note = { backend: 'kubernetes', group: api.group, externalName: 'team.net', lineage: 'theirs', serial: 9 }
  const metadata = { namespace: 'team', name: 'net-state', annotations: { [annotations.state]: JSON.stringify(note) } }
  objects.put(Secret, { apiVersion: 'v1', kind: 'Secret', metadata })
  const from = { text: aState(4), name: 'file' }
  await expect(restore({ which: from, secret: key })).rejects.toThrow(
    'it is of another lineage (ours, and here was theirs)',
  )
})

test('what is there is kept also while there is no Workspace', async () => {
  const { restore, put, objects, said } = aWorld()
  put(aState(4))
  objects.remove(api.workspace, apply)
  await restore({})
  expect(said.join()).toContain(`what was in Secret ${key.namespace}/${key.name}, as copy`)
  expect(readCopies(objects.list(Secret)).map(({ serial }) => serial)).toContain(4)
})

test('a lock that somebody else has taken meanwhile stays theirs', async () => {
  const { restore, put, objects } = aWorld()
  put(aState(4))
  const { client } = objects
  const patch = client.patch.bind(client)
  const lock = { namespace: key.namespace, name: `lock-${key.name}` }
  Object.assign(client, {
    async patch(...asked: Parameters<typeof patch>) {
      if (asked[0].kind === 'Secret') objects.change(Lease, lock, { spec: { holderIdentity: 'theirs' } })
      return patch(...asked)
    },
  })
  await restore({})
  expect(objects.get(Lease, lock)?.spec?.holderIdentity).toBe('theirs')
})

test('another lineage is restored when that is meant', async () => {
  const { restore, now, put } = aWorld()
  put(aState(3))
  await restore({ which: { text: aState(1, 'other'), name: 'file' }, isForced: true })
  expect(now()).toBe(aState(1, 'other'))
})
