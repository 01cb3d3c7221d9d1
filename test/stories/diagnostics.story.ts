// What operators see of a running manager: probes, metrics for those who may have them, a log that can be made to say more.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { text } from 'node:stream/consumers'
import type { TLSSocket } from 'node:tls'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { serviceAccount } from '../../scripts/generated/rbac.ts'
import { type LogLine, readLog } from '../bed/manager.ts'
import { theBed } from '../bed/story.ts'
import { until } from '../until.ts'

const bed = theBed()
const { kube } = bed
const manager = bed.manager ?? { health: '', diagnostics: '', log: '' }

interface Asked {
  readonly method?: string
  readonly token?: string
  readonly body?: string
}

async function ask(path: string, { method = 'GET', token, body }: Asked = {}) {
  const asked = request(new URL(path, manager.diagnostics), {
    method,
    agent: false,
    rejectUnauthorized: false, // it vouches for itself
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
  })
  asked.end(body)
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  const { issuer, subject } = (response.socket as TLSSocket).getPeerCertificate()
  return { code: response.statusCode ?? 0, body: await text(response), issuer: issuer.CN, subject: subject.CN }
}

// Who may do so much to so many paths.
async function aToken(namespace: string, name: string, verbs: readonly string[], paths: readonly string[]) {
  const metadata = { name: `${namespace}-${name}` }
  const rbac = 'rbac.authorization.k8s.io'
  await kube.apply(
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRole',
      metadata,
      rules: paths.length > 0 ? [{ nonResourceURLs: paths, verbs }] : [],
    },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRoleBinding',
      metadata,
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: metadata.name },
      subjects: [{ kind: 'ServiceAccount', name, namespace }],
    },
  )
  return (await kube.kubectl(['create', 'token', name, '--namespace', namespace])).trim()
}

let namespace = ''
let [scraper, stranger, operator] = ['', '', '']
beforeAll(async () => {
  namespace = await bed.namespace('diagnostics')
  scraper = await aToken(namespace, 'scraper', ['get'], ['/metrics'])
  stranger = await aToken(namespace, 'stranger', [], [])
  operator = await aToken(namespace, 'operator', ['put'], ['/debug/flags/v'])
})

const aTemplate = (name: string, module: string) => ({
  apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1',
  kind: 'WorkspaceTemplate',
  metadata: { name, namespace },
  spec: { template: { spec: { forProvider: { source: 'Inline', module } } } },
})

// A right that was just given is known to the API server a moment later, and its refusal is kept for ten seconds.
async function askOnceAllowed(path: string, asked: Asked) {
  const look = async () => {
    const answered = await ask(path, asked)
    return answered.code === 403 ? undefined : answered
  }
  return until(`${path} is given to who may have it`, look, { withinSeconds: 60, everyMs: 500 })
}

describe('metrics', () => {
  test('who may scrape sees what was done, under the names of controller-runtime', async () => {
    await kube.apply(aTemplate('counted', '# nothing'))
    await kube.seeCondition(aTemplate('counted', ''), 'Ready', 'True')
    await askOnceAllowed('/metrics', { token: scraper })
    const values = await until('the pass is counted', async () => {
      const read = valuesIn((await ask('/metrics', { token: scraper })).body)
      return (read.get(passes) ?? 0) > 0 ? read : undefined
    })
    for (const name of ['capt-infrastructure', 'capt-control-plane'])
      expect(values.get(`leader_election_master_status{name="${name}"}`)).toBe(1)
    const templates = '{resource="workspacetemplates.infrastructure.cluster.x-k8s.io"}'
    expect(values.get(`capt_cache_objects${templates}`)).toBeGreaterThan(0)
    const queue = '{name="workspacetemplate",controller="workspacetemplate"}'
    expect(values.get(`workqueue_adds_total${queue}`)).toBeGreaterThan(0)
    expect(values.get(`workqueue_queue_duration_seconds_count${queue}`)).toBeGreaterThan(0)
    expect(values.get('controller_runtime_max_concurrent_reconciles{controller="workspacetemplate"}')).toBe(10)
    const seconds = values.get('controller_runtime_reconcile_time_seconds_sum{controller="workspacetemplate"}') ?? 0
    const counted = values.get('controller_runtime_reconcile_time_seconds_count{controller="workspacetemplate"}') ?? 0
    expect(seconds / counted).toBeLessThan(30)
    const requests = [...values].filter(([name]) => /^rest_client_requests_total\{.*method="PATCH"/.test(name))
    expect(requests.reduce((sum, [, value]) => sum + value, 0)).toBeGreaterThan(0)
    expect(values.get('process_resident_memory_bytes')).toBeGreaterThan(20e6)
    expect(values.get('process_resident_memory_bytes')).toBeLessThan(1e9)
    expect(Math.abs((values.get('process_start_time_seconds') ?? 0) - Date.now() / 1000)).toBeLessThan(86_400)
  })

  test('who says nothing, or shows a token of nobody, is asked who they are', async () => {
    expect((await ask('/metrics')).code).toBe(401)
    expect((await ask('/metrics', { token: 'nobody.s.token' })).code).toBe(401)
  })

  test('who may not is told what would let them', async () => {
    const { code, body } = await ask('/metrics', { token: stranger })
    expect([code, body]).toEqual([
      403,
      'you may not get /metrics: a ClusterRole with that nonResourceURL and verb lets you\n',
    ])
    expect((await ask('/debug/flags/v', { method: 'PUT', token: stranger, body: '9' })).code).toBe(403)
  })

  test('they come over TLS, with a certificate the manager made itself', async () => {
    const { issuer, subject } = await ask('/metrics')
    expect(subject).toBeTruthy()
    expect(issuer).toBe(subject)
  })
})

const passes = 'controller_runtime_reconcile_total{controller="workspacetemplate",result="success"}'

function valuesIn(body: string): ReadonlyMap<string, number> {
  const lines = body.split('\n').filter((line) => line && !line.startsWith('#'))
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]))
}

test('probes say which checks they are made of', async () => {
  const probe = async (path: string) => (await fetch(`${manager.health}${path}`)).text()
  expect(await probe('/healthz')).toBe('ok')
  expect(await probe('/healthz?verbose')).toBe('[+]watches ok\n[+]workers ok\nhealthz check passed\n')
  expect(await probe('/readyz?verbose')).toBe('[+]caches ok\n[+]api-server ok\nreadyz check passed\n')
})

test('the log says more when it is told to, while the manager runs', async () => {
  // An Event that is refused is a line in the log; where the code was is for debugging.
  await refuseEventsIn(namespace)
  const refusedEvent = async (name: string): Promise<LogLine> => {
    await kube.apply(aTemplate(name, 'variable "torn" {'))
    return until(
      `the refused Event of ${name} is told`,
      async () =>
        (await readLog(manager.log)).find(
          ({ msg, error }) => msg === 'an event was dropped' && String(error).includes(`${namespace}/${name}.`),
        ),
      { withinSeconds: 60 },
    )
  }
  const setLevel = async (body: string) => askOnceAllowed('/debug/flags/v', { method: 'PUT', token: operator, body })
  expect(await refusedEvent('before')).not.toHaveProperty('stack')
  onTestFinished(async () => void (await setLevel('0')))
  expect((await setLevel('4')).body).toBe('successfully set klog.logging.verbosity to 4\n')
  expect(await refusedEvent('meanwhile')).toHaveProperty('stack')
  expect((await setLevel('much')).code).toBe(400)
  expect((await setLevel('0')).code).toBe(200)
  expect(await refusedEvent('after')).not.toHaveProperty('stack')
})

async function refuseEventsIn(where: string): Promise<void> {
  const metadata = { name: `no-events-in-${where}` }
  const apiVersion = 'admissionregistration.k8s.io/v1'
  const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': where } }
  const resourceRules = [
    { apiGroups: ['events.k8s.io'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['events'] },
  ]
  const policy = {
    apiVersion,
    kind: 'ValidatingAdmissionPolicy',
    metadata,
    spec: { matchConstraints: { namespaceSelector, resourceRules }, validations: [{ expression: 'false' }] },
  }
  await kube.apply(policy, {
    apiVersion,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata,
    spec: { policyName: metadata.name, validationActions: ['Deny'] },
  })
  onTestFinished(async () => kube.remove(policy))
  const anEvent = {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name: 'trial', namespace: where },
    eventTime: '2026-11-16T12:00:00.000000Z',
    reportingController: 'bed',
    reportingInstance: 'bed',
    type: 'Normal',
    reason: 'Trial',
    action: 'Trial',
    regarding: { apiVersion: 'v1', kind: 'Namespace', name: where, namespace: where },
  }
  await until('Events are refused', async () => ('refused' in (await kube.trial(anEvent)) ? true : undefined))
}

test('no token is in the log', () => {
  const own = bed.manager ? tokensIn(`${bed.folder}/${serviceAccount}-${new URL(bed.server).port}.kubeconfig`) : []
  const tokens = [...own, scraper, stranger, operator]
  expect(tokens.filter((token) => token.split('.').length === 3)).toHaveLength(4)
  const log = readFileSync(manager.log, 'utf8')
  expect(log).toContain('"msg":"leading"')
  // Not even the part of it that is signed.
  expect(tokens.filter((token) => log.includes(token.split('.')[1] ?? ''))).toEqual([])
})

function tokensIn(kubeconfig: string): readonly string[] {
  const { users } = parse(readFileSync(kubeconfig, 'utf8')) as { users: { user: { token: string } }[] }
  return users.map(({ user }) => user.token)
}
