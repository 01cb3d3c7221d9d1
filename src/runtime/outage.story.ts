// Outages, each lived through by a cache in this process and by a whole manager: nothing is lost, nothing is told twice,
// nobody is hammered. What is true in the end is what the official client lists.
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { answers } from '../../test/bed/apiserver.ts'
import { readAudit } from '../../test/bed/audit.ts'
import { seeEstablished } from '../../test/bed/core.ts'
import { type FaultProxy, startFaultProxy } from '../../test/bed/faults/proxy.ts'
import { kubeconfig, type Reach } from '../../test/bed/kubeconfig.ts'
import { launchManager, managerKubeconfig, managerUser, readLog, seeReady } from '../../test/bed/manager.ts'
import { crds, type OwnApi, startOwnApi } from '../../test/bed/own.ts'
import { privateFile } from '../../test/bed/private-file.ts'
import { until } from '../../test/until.ts'
import { apiVersionOf, type KubeObject, resourceName } from '../api/resource.ts'
import { WorkspaceTemplate } from '../api/workspacetemplate.ts'
import { createClient } from '../kube/client.ts'
import { findAccess } from '../kube/find.ts'
import { createCache } from './cache.ts'
import { systemClock as clock } from './clock.ts'

const namespace = 'default'
const label = 'story.example.com/of'
const mostTries = 40 // of one watch, which knocks every two or three seconds at a door that nobody answers
const patience = { withinSeconds: 60, everyMs: 200 }

// The cache's templates are paused, so that nobody but the story changes them. The manager's is not.
function aTemplate(name: string): WorkspaceTemplate {
  const [labels, annotations] = [{ [label]: 'cache' }, { 'cluster.x-k8s.io/paused': '' }]
  return {
    apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1',
    kind: 'WorkspaceTemplate',
    metadata: { namespace, name, ...(name !== 'managed' && { labels, annotations }) },
    spec: { template: { spec: { forProvider: { source: 'Inline', module: '# as it was' } } } },
  }
}
const managed = aTemplate('managed')

type News = readonly string[] // what handlers are told, by name of the object
const byName = (news: News): News => news.toSorted((a, b) => nameIn(a).localeCompare(nameIn(b)))
const nameIn = (line: string) => line.slice(line.indexOf(' '))
const versionOf = ({ metadata: { name, uid, resourceVersion } }: KubeObject) => `${name} ${uid} ${resourceVersion}`

const strays: unknown[] = []
const onStray = (error: unknown) => strays.push(error)
beforeAll(() => void process.on('unhandledRejection', onStray))
afterAll(() => void process.off('unhandledRejection', onStray))

// Those who live through it: both reach the API server the same way, while a hand of ours has its own.
async function startWitnesses(api: OwnApi, way: Reach) {
  const hand = createClient(findAccess({ kubeconfig: api.adminKubeconfig, env: {} }))
  const told: string[] = []
  const troubles: string[] = []
  let tries = 0
  const file = privateFile(join(api.folder, 'cache.kubeconfig'), kubeconfig(way, { token: api.adminToken }))
  const client = createClient(findAccess({ kubeconfig: file, env: {} }), { told: () => tries++ })
  const trouble = (_: unknown, error: unknown) => troubles.push(String(error))
  const cache = createCache({ client, clock, random: () => 0.5, trouble })
  cache.watch(WorkspaceTemplate, {
    scope: { labels: label },
    onChange: ({ what, object }) => told.push(`${what} ${object.metadata.name}`),
  })
  cache.start()
  await hand.create(WorkspaceTemplate, managed)
  const manager = await launchManager(api.home, {
    name: 'manager',
    kubeconfig: await managerKubeconfig(api, way),
    // Longer than any outage here: a manager that loses its Lease ends, which is another story.
    flags: ['--leader-elect-lease-duration=300s', '--leader-elect-renew-deadline=240s'],
  })
  await seeReady(manager)
  await seeManaged()

  async function seeCached(): Promise<void> {
    await until(
      'the cache has what the API server has',
      async () => {
        const all = await api.kube.list(apiVersionOf(WorkspaceTemplate), WorkspaceTemplate.kind, namespace)
        const listed = all.filter(({ metadata }) => metadata.labels?.[label]).map(versionOf)
        const cached = cache.list(WorkspaceTemplate).map(versionOf)
        return listed.toSorted().join() === cached.toSorted().join() || undefined
      },
      patience,
    )
  }

  async function seeManaged(): Promise<void> {
    const isDone = ({ metadata, status }: KubeObject & { readonly status?: unknown }) =>
      (status as WorkspaceTemplate['status'])?.observedGeneration === metadata.generation
    await api.kube.see(managed, 'has the status of its generation', isDone, {
      ...patience,
      giveUp: manager.member.obituary,
    })
  }

  const managerTroubles = async () =>
    (await readLog(manager.address.log)).filter(
      ({ msg, resource }) => msg === 'a watch had trouble' && resource === resourceName(WorkspaceTemplate),
    ).length

  // Returns how often the cache had to ask. Each object meets one change at most, so that what is told does not depend on when it is heard.
  async function liveThrough(outage: string, strike: (change: () => Promise<News>) => Promise<News>): Promise<number> {
    const named = (what: string) => ({ namespace, name: `${outage}-${what}` })
    const make = async (what: string) => hand.create(WorkspaceTemplate, aTemplate(named(what).name))
    const remove = async (what: string) => hand.remove(WorkspaceTemplate, named(what))
    const module = { spec: { template: { spec: { forProvider: { module: `# as ${outage} left it` } } } } }
    for (const what of ['stays', 'changes', 'goes', 'returns']) await make(what)
    await seeCached()
    const before = { told: told.length, tries, troubles: await managerTroubles(), at: new Date() }
    troubles.length = 0

    const news = await strike(async () => {
      await hand.patch(WorkspaceTemplate, named('changes'), module)
      await remove('goes')
      await remove('returns')
      await make('returns')
      await make('comes')
      await hand.patch(WorkspaceTemplate, managed.metadata, module)
      const expected = ['changed changes', 'added comes', 'removed goes', 'removed returns', 'added returns']
      return expected.map((each) => each.replace(' ', ` ${outage}-`))
    })
    const endedAt = clock.now()
    const since = async (seen: Promise<void>) => seen.then(() => `${((clock.now() - endedAt) / 1000).toFixed(1)} s`)
    const [cacheTook, managerTook] = await Promise.all([since(seeCached()), since(seeManaged())])
    const met = [...new Set(troubles)].join('; ') || 'no trouble'
    const asked = tries - before.tries
    console.info(
      `${outage}: after it was over, the cache was in sync in ${cacheTook} (tries: ${asked}; ${met}), the manager in ${managerTook}`,
    )

    expect(byName(told.slice(before.told))).toEqual(byName(news))
    expect((await managerTroubles()) - before.troubles).toBeLessThanOrEqual(mostTries)
    const written = await readAudit(api.auditLog, { user: managerUser, verb: 'patch', since: before.at })
    const statuses = written.filter(({ resource, code }) => resource === 'workspacetemplates/status' && code === 200)
    expect(statuses.map(({ name }) => name)).toEqual(['managed'])
    expect(manager.member.obituary()).toBeUndefined()
    expect(strays).toEqual([])
    return asked
  }

  return {
    cache,
    hand,
    manager,
    liveThrough,
    end() {
      cache.stop()
      client.close()
      hand.close()
    },
  }
}
type Witnesses = Awaited<ReturnType<typeof startWitnesses>>

describe.concurrent('an API server that dies', () => {
  let api: OwnApi
  let witnesses: Witnesses
  beforeAll(async () => {
    api = await startOwnApi('dying')
    witnesses = await startWitnesses(api, api)
  })
  afterAll(async () => {
    witnesses?.end()
    await api?.home.end()
  })

  test('is away for half a minute: the manager stays, not ready', async () => {
    const { health } = witnesses.manager.address
    const tries = await witnesses.liveThrough('api-server', async (change) => {
      await api.apiServer.kill()
      await sleep(27_000)
      expect(await answers({ url: `${health}/readyz` })).toBeUndefined()
      expect(await answers({ url: `${health}/healthz` })).toBe(true)
      await api.apiServer.start()
      return change()
    })
    expect(tries).toBeLessThanOrEqual(mostTries)
    await seeReady(witnesses.manager)
  })
})

describe.concurrent('an API server that lives', () => {
  let api: OwnApi
  let proxy: FaultProxy
  let witnesses: Witnesses
  beforeAll(async () => {
    api = await startOwnApi('living')
    proxy = await startFaultProxy(api)
    witnesses = await startWitnesses(api, proxy)
  })
  afterAll(async () => {
    witnesses?.end()
    await proxy?.stop()
    await api?.home.end()
  })
  const inTurn = { concurrent: false }

  test('loses etcd for ten seconds', inTurn, async () => {
    const tries = await witnesses.liveThrough('etcd', async (change) => {
      await api.etcd.kill()
      await sleep(10_000)
      await api.etcd.start()
      await until('the API server is ready', async () => answers({ url: `${api.server}/readyz`, ca: api.ca }), patience)
      return change()
    })
    expect(tries).toBeLessThanOrEqual(5)
  })

  test('is behind connections that fell silent', inTurn, async () => {
    const tries = await witnesses.liveThrough('half-open', async (change) => {
      proxy.strike('silence')
      return change()
    })
    expect(tries).toBeLessThanOrEqual(3)
  })

  test('has compacted its history while nobody was connected', inTurn, async () => {
    const tries = await witnesses.liveThrough('compaction', async (change) => {
      const expired = proxy.inject({ verb: 'watch', times: 3 }, { do: 'expire', afterLines: 0 })
      proxy.strike('reset')
      const news = await change()
      await until('all three watches are told so', async () => expired.strikes.length === 3 || undefined, patience)
      return news
    })
    expect(tries).toBeLessThanOrEqual(5)
  })

  test('loses a CRD with all its objects, and gets it again', inTurn, async () => {
    const name = resourceName(WorkspaceTemplate)
    const crd = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name } }
    const tries = await witnesses.liveThrough('crd', async () => {
      const cached = () => witnesses.cache.list(WorkspaceTemplate)
      const lost = cached().map(({ metadata }) => `removed ${metadata.name}`)
      await api.kube.remove(crd)
      await api.kube.seeGone(crd)
      await until('the cache has none', async () => cached().length === 0 || undefined, patience)
      await sleep(8000) // so that both hear more than once that there is no such kind
      await api.kube.kubectl(['apply', '--server-side', '-f', join(crds, `${name}.yaml`)])
      await seeEstablished(api.kube)
      await witnesses.hand.create(WorkspaceTemplate, aTemplate('crd-comes'))
      await witnesses.hand.create(WorkspaceTemplate, managed)
      return [...lost, 'added crd-comes']
    })
    expect(tries).toBeLessThanOrEqual(20)
  })
})
