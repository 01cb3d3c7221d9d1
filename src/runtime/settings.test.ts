import { expect, test } from 'vitest'
import { helpOf, settingFlags, settingsOf } from './settings.ts'

test('without flags it is as Cluster API core is, with more requests allowed', () => {
  expect(settingsOf([])).toEqual({
    warnings: [],
    settings: {
      help: false,
      version: false,
      kubeconfig: '',
      context: '',
      qps: 500,
      burst: 1000,
      enabled: ['all'],
      namespace: '',
      watchFilter: '',
      syncMs: 600_000,
      concurrency: 10,
      workspaceAPI: 'auto',
      isCrossNamespaceAllowed: false,
      isElected: false,
      leaseMs: 15_000,
      renewMs: 10_000,
      retryMs: 2000,
      leaseNamespace: '',
      diagnostics: { port: 8443 },
      isInsecure: false,
      health: { port: 9440 },
      certificateFolder: '',
      tlsMinVersion: 'VersionTLS12',
      ciphers: [],
      verbosity: 0,
      loggingFormat: 'json',
    },
  })
})

test('what the manifests of the predecessor pass is understood', () => {
  const argv = [
    '--leader-elect',
    '--metrics-bind-address=:8080',
    '--health-probe-bind-address=:8081',
    '--zap-devel=true',
  ]
  const { settings, warnings } = settingsOf([...argv, '--enable-controller=infrastructure,control-plane'])
  expect(settings).toMatchObject({
    isElected: true,
    diagnostics: { port: 8080 },
    health: { port: 8081 },
    enabled: ['infrastructure', 'control-plane'],
  })
  expect(warnings).toEqual(['--zap-devel does nothing here: use --v; logs are JSON lines'])
})

test('what cluster-api-operator passes is understood', () => {
  const { settings, warnings } = settingsOf([
    '--leader-elect=true',
    '--leader-elect-lease-duration=30s',
    '--leader-elect-renew-deadline=20s',
    '--leader-elect-retry-period=4s',
    '--leader-election-id=capt-system/capt',
    '--namespace=team',
    '--max-concurrent-reconciles=3',
    '--captcluster.infrastructure.cluster.x-k8s.io-concurrency=5',
    '--health-addr=:9441',
    '--metrics-bind-addr=0',
    '--webhook-host=0.0.0.0',
    '--webhook-port=9443',
    '--webhook-cert-dir=/tmp/certs',
    '--sync-period=600s',
    '--profiler-address=localhost:6060',
    '--v=5',
    '--feature-gates=MachinePool=true,ClusterTopology=true',
  ])
  expect(settings).toMatchObject({
    isElected: true,
    leaseMs: 30_000,
    renewMs: 20_000,
    retryMs: 4000,
    namespace: 'team',
    concurrency: 3,
    health: { port: 9441 },
    diagnostics: undefined,
    syncMs: 600_000,
    verbosity: 5,
  })
  expect(warnings.map((warning) => warning.split(' ', 1)[0])).toEqual([
    '--leader-election-id',
    '--captcluster.infrastructure.cluster.x-k8s.io-concurrency',
    '--webhook-host',
    '--webhook-port',
    '--webhook-cert-dir',
    '--profiler-address',
    '--feature-gates',
  ])
})

test.each<[string[], string | undefined]>([
  [['lease-duration=10.001s'], undefined],
  [['lease-duration=10s'], '--leader-elect-lease-duration must be longer than --leader-elect-renew-deadline'],
  [['renew-deadline=2.41s'], undefined],
  [['renew-deadline=2.4s'], '--leader-elect-renew-deadline must be longer than 1.2 times --leader-elect-retry-period'],
])('with %j a leader that lost its Lease stops in time, or it is refused', (argv, why) => {
  const start = () => settingsOf(argv.map((each) => `--leader-elect-${each}`))
  expect(messageOf(start)).toBe(why)
})

test.each([
  ['--enable-controller=everything', 'is none of all, infrastructure, control-plane'],
  ['--tls-min-version=VersionTLS11', 'is none of VersionTLS12, VersionTLS13'],
  ['--tls-cipher-suites=TLS_RSA_WITH_RC4_128_SHA', 'is none of TLS_AES_128_GCM_SHA256, '],
  ['--logging-format=text', 'is none of json'],
  ['--health-addr=9440', 'is no address'],
  ['--concurrency=0', 'is no whole number from 1 on'],
  ['--diagnostic-address=:1', 'did you mean --diagnostics-address?'],
  ['--leader-elct', 'did you mean --leader-elect?'],
])('%s is refused with a way out', (arg, says) => {
  expect(() => settingsOf([arg])).toThrow(says)
})

test('the help has every flag, and fits a terminal of 100 columns', () => {
  const help = helpOf()
  for (const { name } of settingFlags) expect(help).toContain(`--${name}`)
  for (const line of help.split('\n')) expect(line.length, line).toBeLessThanOrEqual(100)
  for (const { name, help: sentence } of settingFlags) expect(sentence, name).toMatch(/^[A-Z].*\.$/)
})

function messageOf(what: () => unknown): string | undefined {
  try {
    what()
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
