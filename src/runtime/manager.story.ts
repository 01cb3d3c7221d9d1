// The manager among its own: what it looks at, how its controllers get along, how it begins and how it ends. On an API
// server of its own, because on the shared bed another manager is at work.
import { Writable } from 'node:stream'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { lendAudit, readAudit } from '../../test/bed/audit.ts'
import { startFaultProxy } from '../../test/bed/faults/proxy.ts'
import type { KubeObject } from '../../test/bed/kube.ts'
import { type LogLine, launchManager, managerKubeconfig, managerUser, seeReady } from '../../test/bed/manager.ts'
import { type OwnApi, startOwnApi } from '../../test/bed/own.ts'
import { freePort } from '../../test/bed/ports.ts'
import { theBed } from '../../test/bed/story.ts'
import { until } from '../../test/until.ts'
import { watchFilterLabel } from '../api/contract.ts'
import { WorkspaceTemplate } from '../api/workspacetemplate.ts'
import { workspaceTemplateController } from '../controllers/workspacetemplate/index.ts'
import { findAccess } from '../kube/find.ts'
import { type Controller, controller, itself } from './controller.ts'
import { leases } from './leadership.ts'
import { createLog } from './log.ts'
import { idle } from './plan.ts'
import { serveManager } from './serve.ts'
import { settingsOf } from './settings.ts'

const patience = { withinSeconds: 60 }
let api: OwnApi
beforeAll(async () => {
  api = await startOwnApi('managed')
})
afterAll(async () => {
  if (api) await lendAudit(theBed(), api.auditLog, 'manager-story') // only here the manager lists
  await api?.home.end()
})

async function aTemplate(namespace: string, name: string, labels: Readonly<Record<string, string>> = {}) {
  const spec = { template: { spec: { forProvider: { source: 'Inline', module: '# nothing' } } } }
  const template: KubeObject = {
    apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1',
    kind: 'WorkspaceTemplate',
    metadata: { namespace, name, labels },
    spec,
  }
  await api.kube.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }, template)
  return template
}
const seeJudged = async (template: KubeObject) => api.kube.seeCondition(template, 'Ready', 'True', patience)

// In this process, so that it can be given controllers of a story.
async function serve(userAgent: string, controllers: readonly Controller[], flags: readonly string[]) {
  const lines: LogLine[] = []
  const to = new Writable({
    write(line: Buffer, _, done) {
      lines.push(JSON.parse(line.toString()) as LogLine)
      done()
    },
  })
  const manager = await serveManager({
    settings: settingsOf(['--health-addr=0', '--diagnostics-address=0', '--concurrency=1', ...flags]).settings,
    access: findAccess({ kubeconfig: api.adminKubeconfig, env: {} }),
    controllers,
    userAgent,
    log: createLog({ to, level: 'info' }),
    onLost: () => {},
  })
  onTestFinished(manager.stop)
  return { lines }
}

test('it looks only at the namespace and at the objects it is told to look at', async () => {
  // It has one worker and hears of them by name: when the last has its status, the one before it was passed over.
  const unlabelled = await aTemplate('here', 'a')
  const another = await aTemplate('here', 'b', { [watchFilterLabel]: 'theirs' })
  const ours = await aTemplate('here', 'c', { [watchFilterLabel]: 'ours' })
  const elsewhere = await aTemplate('there', 'c', { [watchFilterLabel]: 'ours' })
  await serve('restricted', [workspaceTemplateController], ['--namespace=here', '--watch-filter=ours'])
  await seeJudged(ours)
  for (const other of [unlabelled, another, elsewhere]) expect(await api.kube.read(other)).not.toHaveProperty('status')
  const asked = (await readAudit(api.auditLog)).filter(({ userAgent }) => userAgent === 'restricted')
  expect(new Set(asked.map(({ verb, namespace }) => `${verb} ${namespace}`))).toEqual(
    new Set(['watch here', 'patch here']),
  )
})

test('a controller that is stuck or fails holds up no other; failures come later and later, and are told', async () => {
  const release = Promise.withResolvers<void>()
  const failedAt: number[] = []
  const on = { kind: WorkspaceTemplate, wokenBy: [itself(WorkspaceTemplate)], decide: () => idle }
  const stuck = controller({ ...on, name: 'stuck', observe: async () => release.promise })
  const failing = controller({
    ...on,
    name: 'failing',
    observe() {
      failedAt.push(performance.now())
      throw new Error('no good')
    },
  })
  const template = await aTemplate('busy', 'demo')
  const port = await freePort()
  const address = ['--insecure-diagnostics', `--diagnostics-address=127.0.0.1:${port}`]
  const { lines } = await serve('busy', [stuck, failing, workspaceTemplateController], ['--namespace=busy', ...address])
  onTestFinished(() => release.resolve()) // before it is told to stop: the last come first
  await seeJudged(template)
  const times = await until('it has failed often', async () => (failedAt.length > 6 ? failedAt : undefined), patience)
  // The delay doubles from 50 ms and is at least half of that; once the new status makes it come at once.
  expect((times[6] ?? 0) - (times[0] ?? 0)).toBeGreaterThan((50 * (2 ** 5 - 1)) / 2)
  const failure = lines.find(({ msg, ...line }) => msg === 'a pass failed' && line['controller'] === 'failing')
  expect(failure).toMatchObject({ level: 'error', object: 'busy/demo', error: 'no good' })
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  const measured = (series: string) => Number(metrics.match(new RegExp(`^${series} (.*)$`, 'm'))?.[1])
  expect(measured('controller_runtime_reconcile_errors_total{controller="failing"}')).toBeGreaterThanOrEqual(6)
  expect(measured('workqueue_retries_total{name="failing",controller="failing"}')).toBeGreaterThanOrEqual(5)
  expect(measured('controller_runtime_active_workers{controller="stuck"}')).toBe(1)
})

test('where WatchList is refused it lists; told to end, it ends in order and lets its Leases go', async () => {
  const proxy = await startFaultProxy(api)
  onTestFinished(proxy.stop)
  const refused = proxy.inject({ verb: 'watch', path: /sendInitialEvents=true/ }, { do: 'answer', code: 422 })
  const template = await aTemplate('old', 'demo')
  const kubeconfig = await managerKubeconfig(api, proxy)
  const manager = await launchManager(api.home, { name: 'manager', kubeconfig, flags: ['--namespace=old'] })
  await seeReady(manager)
  await seeJudged(template)
  expect(refused.strikes.length).toBeGreaterThanOrEqual(2)
  const lists = await readAudit(api.auditLog, { user: managerUser, verb: 'list', namespace: 'old' })
  expect(new Set(lists.map(({ resource, code }) => `${resource} ${code}`))).toEqual(
    new Set([
      'captbootstrapconfigs 200',
      'captclusters 200',
      'captcontrolplanes 200',
      'captcontrolplanetemplates 200',
      'clusters 404', // nobody serves them here
      'configmaps 200',
      'secrets 200',
      'workspaces 404', // nor these
      'workspacetemplateapplies 200',
      'workspacetemplates 200',
    ]),
  )

  const told = performance.now()
  await manager.member.kill('SIGTERM')
  const seconds = (performance.now() - told) / 1000
  console.info(`the manager ended ${seconds.toFixed(1)} s after SIGTERM`)
  expect(manager.member.obituary()).toMatch(/^manager ended with 0;/)
  expect(seconds).toBeLessThan(15)
  const held = await api.kube.list('coordination.k8s.io/v1', 'Lease', 'appthrust-capt-system')
  expect(held.map(({ metadata }) => metadata.name).toSorted()).toEqual(Object.values(leases).toSorted())
  for (const { spec } of held) expect((spec as { holderIdentity?: string }).holderIdentity ?? '').toBe('')
})
