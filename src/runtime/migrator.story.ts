// Objects stored in an old version of their kind, on a real API server: rewritten, so that the version can be dropped.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { crdOf } from '../../scripts/generated/crd.ts'
import { lendAudit, readAudit } from '../../test/bed/audit.ts'
import { launchManager, managerKubeconfig, managerUser, readLog } from '../../test/bed/manager.ts'
import { type OwnApi, startOwnApi } from '../../test/bed/own.ts'
import { theBed } from '../../test/bed/story.ts'
import { aClient } from '../../test/reaching.ts'
import { aSpecimen } from '../../test/specimens.ts'
import { until } from '../../test/until.ts'
import { CAPTCluster } from '../api/captcluster.ts'
import type { Kind } from '../api/kind.ts'
import { kinds } from '../api/kinds.ts'
import { CustomResourceDefinition } from '../api/neighbours.ts'
import { type KubeObject, resourceName } from '../api/resource.ts'
import { type Client, createClient } from '../kube/client.ts'
import { ApiError, isNotServed, NotLeading } from '../kube/errors.ts'
import { findAccess } from '../kube/find.ts'
import type { Clock } from './clock.ts'
import type { Log } from './log.ts'
import { type Migration, migrate } from './migrator.ts'

const bed = theBed()
let api: OwnApi
let admin: Client
let own = '' // the kubeconfig of the manager's account
beforeAll(async () => {
  api = await startOwnApi('migrator')
  admin = createClient(findAccess({ kubeconfig: api.adminKubeconfig, env: {} }))
  own = await managerKubeconfig({ kube: api.kube, folder: api.home.folder }, api)
})
afterAll(async () => {
  await lendAudit(bed, api.auditLog, 'migrator')
  admin.close()
  await api.home.end()
})

// A wait is over at once.
const clock: Clock = {
  now: () => 0,
  wakeAt(_, call) {
    const timer = setTimeout(call, 10)
    return () => clearTimeout(timer)
  },
}

interface Version {
  readonly name: string
  readonly served: boolean
  readonly storage: boolean
}

// The CRD with an older version beside ours, of the same form.
function withVersions(kind: Kind, ours: Partial<Version>, old?: Partial<Version>) {
  const crd = crdOf(kind)
  const { versions } = crd.spec as { versions: Version[] }
  const all = versions.flatMap((each) => [
    { ...each, ...ours },
    ...(old ? [{ ...each, name: 'v1alpha1', ...old }] : []),
  ])
  return { ...crd, spec: { ...crd.spec, versions: all } }
}

const before = (kind: Kind) => withVersions(kind, { storage: false }, { storage: true })
const upgraded = (kind: Kind) => withVersions(kind, {}, { served: false, storage: false })
const dropped = (kind: Kind) => withVersions(kind, {})

function aged(kind: Kind, name: string) {
  return { ...aSpecimen(kind, 'default', undefined, name), apiVersion: `${kind.group}/v1alpha1` }
}

// As it was before an upgrade, with objects; then the upgrade.
async function upgrade(which: readonly Kind[], names: readonly string[] = ['specimen']): Promise<void> {
  const { kube } = api
  await kube.apply(...which.map(before))
  await until('the old version is served, and objects are made in it', async () => {
    await kube.apply(...which.flatMap((kind) => names.map((name) => aged(kind, name))))
    return true
  })
  await kube.apply(...which.map(upgraded))
  for (const kind of which) {
    await until('the old version is served no more, and ours is', async () => {
      const refusal: unknown = await admin.list({ ...kind, version: 'v1alpha1' }).catch((error: unknown) => error)
      if (isNotServed(refusal)) return admin.list(kind) // ready to be asked, which takes a moment after a change
      return undefined
    })
  }
}

async function storedAs(kind: Kind): Promise<string | undefined> {
  return (await admin.get(CustomResourceDefinition, { name: resourceName(kind) })).status?.storedVersions?.join()
}

async function objectsOf(kind: Kind): Promise<readonly KubeObject[]> {
  return (await admin.list(kind)).items
}

const versionsOf = ({ metadata: { managedFields = [] } }: KubeObject) =>
  managedFields.map(({ apiVersion }) => apiVersion)
const old = (object: KubeObject) => versionsOf(object).filter((each) => each?.endsWith('v1alpha1'))

function aLog() {
  const told: string[] = []
  const tell = (msg: string, { kind, count, error }: Record<string, unknown> = {}) =>
    void told.push(
      [msg, kind, count, error]
        .filter((each) => each !== undefined)
        .map(String)
        .join(' '),
    )
  const log: Log = { error: tell, warn: tell, info: tell, debug: tell, with: () => log, setLevel() {} }
  return { log, told }
}

async function writes(): Promise<readonly string[]> {
  const all = await readAudit(api.auditLog, { user: managerUser })
  return all.filter(({ verb }) => verb === 'patch').map(({ resource, name, code }) => `${resource} ${name} ${code}`)
}

test("every kind is rewritten under the manager's own role, once, and its old version can be dropped", {
  timeout: 300_000,
}, async () => {
  await upgrade(kinds)
  await expect(api.kube.apply(dropped(CAPTCluster))).rejects.toThrow('storedVersions')
  const seen = new Map<string, KubeObject>()
  for (const kind of kinds) {
    expect(await storedAs(kind), kind.kind).toBe('v1beta1,v1alpha1')
    for (const object of await objectsOf(kind)) seen.set(kind.kind, object)
  }
  expect(seen.size).toBe(kinds.length)

  const { log, told } = aLog()
  const client = aClient(own)
  await migrate({ client, resources: kinds, clock, log })
  expect(told.toSorted()).toEqual(kinds.map(({ kind }) => `stored objects were rewritten ${kind} 1`).toSorted())
  for (const kind of kinds) {
    expect(await storedAs(kind), kind.kind).toBe('v1beta1')
    const [object] = await objectsOf(kind)
    const { metadata: was, ...rest } = seen.get(kind.kind) ?? aSpecimen(kind, 'default')
    expect(object, kind.kind).toMatchObject({ ...rest, metadata: { name: was.name, uid: was.uid } })
    expect(object?.metadata.generation).toBe(was.generation)
    expect(object?.metadata.resourceVersion, kind.kind).not.toBe(was.resourceVersion)
    expect(object && old(object), kind.kind).toEqual([])
  }

  const done = (await writes()).length
  await migrate({ client, resources: kinds, clock, log })
  expect(await writes()).toHaveLength(done)
  await api.kube.apply(...kinds.map(dropped))
  await until('objects can be changed with the old version gone', async () => {
    await api.kube.apply(...kinds.map((kind) => aSpecimen(kind, 'default')))
    return true
  })
})

const names = ['one', 'two', 'three', 'four']

test('interrupted in the middle, it is begun again, and ends', async () => {
  await upgrade([CAPTCluster], names)
  const { log, told } = aLog()
  const client = aClient(own)
  let left = 2
  const losing: Migration['client'] = {
    ...client,
    async patch(...asked) {
      if (left-- === 0) throw new NotLeading('cannot patch: we do not lead')
      return client.patch(...asked)
    },
  }
  await migrate({ client: losing, resources: [CAPTCluster], clock, log })
  expect(told).toEqual([])
  expect(await storedAs(CAPTCluster)).toBe('v1beta1,v1alpha1')
  await migrate({ client, resources: [CAPTCluster], clock, log })
  expect(await storedAs(CAPTCluster)).toBe('v1beta1')
  expect((await objectsOf(CAPTCluster)).flatMap(old)).toEqual([])
})

test('while the API server is not ready for it, it is tried again', async () => {
  await upgrade([CAPTCluster], names)
  const { log, told } = aLog()
  const client = aClient(own)
  let refusals = 3
  const refused: Migration['client'] = {
    ...client,
    async list(...asked) {
      if (refusals-- > 0) throw new ApiError({ doing: 'list', code: 429, message: 'storage is (re)initializing' })
      return client.list(...asked)
    },
  }
  await migrate({ client: refused, resources: [CAPTCluster], clock, log })
  expect(told).toEqual([expect.stringContaining('stored objects were rewritten CAPTCluster')])
  expect(await storedAs(CAPTCluster)).toBe('v1beta1')
})

test('an object that somebody else writes meanwhile loses nothing, and its old owners all the same', async () => {
  await upgrade([CAPTCluster], names)
  const { log, told } = aLog()
  const client = aClient(own)
  let isDisturbed = false
  const disturbed: Migration['client'] = {
    ...client,
    async patch(resource, key, ...asked) {
      if (key.name === 'two' && !isDisturbed) {
        isDisturbed = true
        await admin.patch(CAPTCluster, key, { metadata: { labels: { meanwhile: 'yes' } } })
      }
      return client.patch(resource, key, ...asked)
    },
  }
  await migrate({ client: disturbed, resources: [CAPTCluster], clock, log })
  expect(told.join()).not.toContain('cannot')
  expect(await writes()).toContain('captclusters two 409')
  expect(await storedAs(CAPTCluster)).toBe('v1beta1')
  const all = await objectsOf(CAPTCluster)
  expect(all.find(({ metadata: { name } }) => name === 'two')?.metadata.labels).toEqual({ meanwhile: 'yes' })
  expect(all.flatMap(old)).toEqual([])
})

test('a manager does it when it begins to lead', async () => {
  await upgrade([CAPTCluster], names)
  const { member, address } = await launchManager(api.home, { name: 'manager', kubeconfig: own })
  const look = async () =>
    (await readLog(address.log)).find(
      ({ msg, kind }) => msg === 'stored objects were rewritten' && kind === 'CAPTCluster',
    )
  await until('it tells so', look, { withinSeconds: 60, giveUp: member.obituary })
  expect(await storedAs(CAPTCluster)).toBe('v1beta1')
  expect((await objectsOf(CAPTCluster)).flatMap(old)).toEqual([])
  await member.kill('SIGTERM')
})
