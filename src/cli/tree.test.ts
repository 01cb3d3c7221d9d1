import { expect, onTestFinished, test } from 'vitest'
import { type VirtualClock, virtualClock } from '../../test/clock.ts'
import { objectsInMemory } from '../../test/objects.ts'
import {
  anApply,
  applied,
  aWorkspaceOf,
  fourSecrets,
  isReady,
  made,
  network,
  now,
  type Object,
  plane,
  says,
  theCluster,
  theNetwork,
  thePlane,
} from '../../test/pictured.ts'
import { CAPTCluster } from '../api/captcluster.ts'
import { CAPTControlPlane } from '../api/captcontrolplane.ts'
import { Cluster, Secret } from '../api/neighbours.ts'
import type { Resource } from '../api/resource.ts'
import { workspaceAPIs } from '../api/workspace.ts'
import { WorkspaceTemplateApply } from '../api/workspacetemplateapply.ts'
import type { Scope } from '../kube/client.ts'
import { ApiError } from '../kube/errors.ts'
import { follow } from './follow.ts'
import { type Output, showTree, type Watching, watchTree } from './tree.ts'

const resources: readonly Resource[] = [
  Cluster,
  CAPTCluster,
  CAPTControlPlane,
  WorkspaceTemplateApply,
  Secret,
  workspaceAPIs['tf.m.upbound.io'].workspace,
]

// A management cluster in memory, and one who looks at it.
function aHouse(...objects: readonly Object[]) {
  const memory = objectsInMemory(() => now)
  const clock = virtualClock()
  const written: string[] = []
  const asked: { kind: string; scope: Scope }[] = []
  const refused = new Map<string, ApiError>()
  const cutters = new Set<(why: ApiError) => void>()
  const interrupted = new AbortController()
  onTestFinished(() => interrupted.abort())

  // Owners are told by uid, which the API server gives.
  function put(object: Object): void {
    const resource = resources.find(({ kind }) => kind === object.kind)
    if (!resource) throw new Error(`nobody knows ${object.kind}`)
    const owners = (object.metadata.ownerReferences ?? []).map((each) => {
      const owner = resources.find(({ kind }) => kind === each.kind)
      return {
        ...each,
        uid: (owner && memory.get(owner, { name: each.name, namespace: 'default' })?.metadata.uid) ?? '',
      }
    })
    memory.put(resource, { ...object, metadata: { ...object.metadata, ownerReferences: owners } })
  }
  for (const each of objects) put(each)

  const client: Watching['client'] = {
    ...memory.client,
    async *watch(resource, scope, signal) {
      asked.push({ kind: resource.kind, scope })
      const error = refused.get(resource.kind)
      if (error) throw error
      const calling = new AbortController()
      cutters.add((why) => calling.abort(why))
      yield* memory.client.watch(resource, scope, AbortSignal.any([signal, calling.signal]))
    },
    ready: async () => refused.size === 0,
  }
  // As when an API server goes: every watch breaks, and none can be begun again until it is back.
  function cut(error: ApiError): void {
    for (const kind of ['Cluster', 'Secret', 'WorkspaceTemplateApply']) refused.set(kind, error)
    for (const each of cutters) each(error)
  }
  const out: Output = {
    write: (text) => void written.push(text),
    size: () => undefined,
    onResize: () => () => {},
    isColoured: false,
    isUnicode: true,
  }
  const looking: Watching = {
    client,
    server: 'https://here',
    namespace: 'default',
    name: 'demo',
    clock,
    now: () => now,
    out,
    signal: interrupted.signal,
  }
  return { looking, put, memory, clock, asked, refused, cut, interrupted, text: () => written.join('') }
}

// Until what can happen without time passing has happened.
async function settle(clock: VirtualClock): Promise<void> {
  for (let round = 0; round < 20; round++) await clock.advance(0)
}

const coming = theNetwork(network('Ready', 'NotProvisioned'), network('VPCReady', 'VPCCreating'))
const vpc = (reason: string) => anApply('demo-vpc', { ownedBy: coming, says: [applied('Ready', reason)] })
const there = [
  theCluster({ says: [says('Available', 'True', 'Available')] }),
  theNetwork(network('Ready', 'Provisioned')),
  vpc('Ready'),
  aWorkspaceOf('demo-vpc', ...isReady),
  thePlane({ says: [plane('Available', 'Available')] }),
  ...fourSecrets,
]

test('a tree is shown once, with all that hangs on the Cluster', async () => {
  const { looking, text } = aHouse(...there)
  const { isWhole, isAvailable } = await showTree(looking)
  expect({ isWhole, isAvailable }).toEqual({ isWhole: true, isAvailable: true })
  expect(
    text()
      .split('\n')
      .map((line) => line.replace(/ {2,}.*/, '')),
  ).toEqual([
    '● Cluster/demo',
    '├─ ● CAPTCluster/demo',
    '│',
    '│',
    '└─ ● CAPTControlPlane/demo',
    '',
    '',
    'Available at https://A1B2.gr7.ap-northeast-1.eks.amazonaws.com, Kubernetes v1.34.2',
    '',
  ])
  expect(text()).toContain('Workspace/demo-vpc')
  expect(text()).toContain('4 Secrets')
})

test('of Secrets nothing but metadata is asked for, and only of those of the Cluster', async () => {
  const { looking, asked } = aHouse(...there)
  await showTree(looking)
  const scopes = asked.filter(({ kind }) => kind === 'Secret').map(({ scope }) => scope)
  expect(scopes).toEqual([
    expect.objectContaining({ metadataOnly: true, namespace: 'default', labels: 'cluster.x-k8s.io/cluster-name=demo' }),
  ])
})

test('where it is no terminal, each change is a line, until the Cluster is available', async () => {
  const { looking, put, clock, text } = aHouse(
    theCluster({ says: [says('Available', 'False', 'NotAvailable')] }),
    coming,
    thePlane(),
  )
  const ending = watchTree({ ...looking, until: 'available' })
  await settle(clock)
  await clock.advance(3000)
  put(vpc('Planning'))
  await settle(clock)
  await clock.advance(4000)
  put(aWorkspaceOf('demo-vpc', ...isReady))
  for (const each of there) put(each)
  await settle(clock)
  expect(await ending).toBe('available')
  expect(
    text()
      .split('\n')
      .filter((line) => line.startsWith('+')),
  ).toEqual([
    '+0s CAPTCluster/demo: VPCCreating',
    '+0s CAPTControlPlane/demo: New',
    '+0s Cluster/demo: NotAvailable',
    '+3s Workspace/demo-vpc: not there',
    '+3s WorkspaceTemplateApply/demo-vpc: Planning',
    expect.stringMatching(/^\+7s /),
    expect.stringMatching(/^\+7s /),
    expect.stringMatching(/^\+7s /),
    expect.stringMatching(/^\+7s /),
    expect.stringMatching(/^\+7s /),
    '+7s Cluster/demo: Available',
    '+7s Available at https://A1B2.gr7.ap-northeast-1.eks.amazonaws.com, Kubernetes v1.34.2',
  ])
})

test('on a terminal it is drawn again in its place, ages too, and the cursor comes back', async () => {
  const { looking, clock, interrupted, text } = aHouse(...there)
  let minutes = 0
  let resize = () => {}
  const ending = watchTree({
    ...looking,
    now: () => new Date(now.getTime() + minutes * 60_000),
    out: { ...looking.out, size: () => ({ columns: 80, rows: 24 }), onResize: (call) => (resize = call) },
  })
  await settle(clock)
  await clock.advance(2500)
  const drawings = () => text().split('● Cluster/demo').length - 1
  expect(drawings()).toBe(1)
  minutes = 5
  await clock.advance(1000)
  expect(drawings()).toBe(2)
  resize()
  expect(drawings()).toBe(3)
  minutes = 30
  await clock.advance(1000)
  expect(text()).toContain('TokenExpired')
  interrupted.abort()
  expect(await ending).toBe('interrupted')
  expect(text().startsWith('\u001B[?25l')).toBe(true)
  expect(text().endsWith('\u001B[?25h')).toBe(true)
})

test('when the Cluster goes, it ends', async () => {
  const { looking, memory, clock } = aHouse(...there)
  const ending = watchTree(looking)
  await settle(clock)
  memory.remove(Cluster, { name: 'demo', namespace: 'default' })
  await settle(clock)
  expect(await ending).toBe('gone')
})

test.each<[string, Object[], string]>([
  ['there are none', [], 'there is no Cluster demo in namespace default; there is none at all.'],
  [
    'there are others',
    [{ ...theCluster(), metadata: { name: 'prod', namespace: 'team' } }],
    'there is no Cluster demo in namespace default; there is team/prod (namespace/name).',
  ],
  [
    'it is elsewhere',
    [
      { ...theCluster(), metadata: { name: 'demo', namespace: 'team' } },
      { ...theCluster(), metadata: { name: 'prod', namespace: 'team' } },
    ],
    'there is no Cluster demo in namespace default; there is team/demo (namespace/name): pass --namespace.',
  ],
])('a Cluster that is not there is told, and which there are instead: %s', async (_, objects, says_) => {
  const { looking } = aHouse(...objects)
  await expect(showTree(looking)).rejects.toThrow(says_)
  await expect(watchTree(looking)).rejects.toThrow(says_)
})

const trouble = (code?: number, reason = '', isUnreachable = false) =>
  new ApiError({ doing: 'watch Clusters', message: 'no', reason, isUnreachable, ...(code !== undefined && { code }) })

test.each<[string, ApiError, RegExp]>([
  [
    'one may not',
    trouble(403, 'Forbidden'),
    /^you may not list and watch clusters\.cluster\.x-k8s\.io in namespace default: a role/,
  ],
  ['one is not known', trouble(401, 'Unauthorized'), /^the API server https:\/\/here does not know you: log in again/],
  [
    'it is away',
    trouble(undefined, '', true),
    /^the API server https:\/\/here cannot be reached: .*See whether it runs/,
  ],
  [
    'there is no Cluster API',
    trouble(404, 'NotFound'),
    /^clusters\.cluster\.x-k8s\.io are not served by https:\/\/here: is Cluster API/,
  ],
])('when %s, a sentence says so', async (_, error, says_) => {
  const { looking, refused } = aHouse(...there)
  refused.set('Cluster', error)
  await expect(showTree(looking)).rejects.toThrow(says_)
})

test('an API server that is busy is asked again, and given up after a while', async () => {
  const { looking, refused, clock, text } = aHouse(...there)
  refused.set('WorkspaceTemplateApply', trouble(429, 'TooManyRequests'))
  const shown = showTree(looking)
  await clock.advance(1000)
  refused.clear()
  await clock.advance(10_000)
  await shown
  expect(text()).toContain('● Cluster/demo')
  refused.set('WorkspaceTemplateApply', trouble(429, 'TooManyRequests'))
  const again = showTree(looking).catch(String)
  await clock.advance(60_000)
  expect(await again).toBe('Error: cannot watch Clusters: 429 no')
})

test('a kind of others is found in the version it is served in, when it is', async () => {
  const apiGroup = 'infrastructure.cluster.x-k8s.io'
  const ref = { apiGroup, kind: 'AWSCluster', name: 'net' }
  const theirs = made(`${apiGroup}/v1beta2`, 'AWSCluster', 'net', { status: { ready: true } })
  const { looking, clock, memory } = aHouse(theCluster({ spec: { infrastructureRef: ref } }))
  memory.put({ ...Cluster, group: apiGroup, kind: 'AWSCluster' }, theirs)
  const served = { kind: 'AWSCluster', plural: 'awsclusters', isNamespaced: true }
  let versions: readonly string[] = []
  const client: Watching['client'] = {
    ...looking.client,
    versions: async () => versions,
    served: async (_, version) => (version === 'v1beta2' ? [served] : []),
  }
  const following = follow({ ...looking, client, onChange() {}, onAway() {} })
  onTestFinished(following.stop)
  await settle(clock)
  await following.whenKnown()
  expect(following.situation().unseen).toEqual([
    { kind: 'AWSCluster', why: `the API server serves no AWSCluster in ${apiGroup}` },
  ])
  versions = ['v1', 'v1beta2']
  await clock.advance(4000)
  await settle(clock)
  const { unseen, objects } = following.situation()
  expect(unseen).toEqual([])
  expect(objects.map(({ kind }) => kind)).toEqual(['Cluster', 'AWSCluster'])
})

test('what one may not see is left out, and named', async () => {
  const { looking, refused, text } = aHouse(...there)
  refused.set('Secret', trouble(403, 'Forbidden'))
  await showTree(looking)
  expect(text()).toContain('● Cluster/demo')
  expect(text()).toContain('Not shown: Secrets (you may not list and watch secrets in namespace default')
})

test('an API server that goes while one watches, and comes back, is told', async () => {
  const { looking, put, clock, refused, cut, text } = aHouse(...there)
  void watchTree(looking)
  await settle(clock)
  cut(trouble(undefined, '', true))
  await clock.advance(5000)
  refused.clear()
  put(theCluster({ says: [says('Available', 'False', 'NotAvailable')] }))
  await clock.advance(10_000)
  const lines = text()
    .split('\n')
    .map((line) => line.replace(/^\+\d+s /, ''))
  const lost = lines.findIndex((line) => line.startsWith('the API server https://here cannot be reached'))
  expect(lines.filter((line) => line.includes('cannot be reached'))).toHaveLength(1)
  expect(lines.indexOf('the API server answers again')).toBeGreaterThan(lost)
  expect(lines.indexOf('Cluster/demo: NotAvailable')).toBeGreaterThan(lost)
})
