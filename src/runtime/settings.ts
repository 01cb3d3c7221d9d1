// The manager's command line: Cluster API core's flags, and a few of our own. Nothing else configures the manager. What every
// process has of them is declared here once, for the engine too.
import { workspaceGroups } from '../api/workspace.ts'
import { readAddress } from './address.ts'
import {
  anyText,
  type Declare,
  duration,
  flagsOf,
  type Ignored,
  oneOf,
  readFlags,
  tellFlags,
  UsageError,
  wholeNumber,
  wrap,
} from './flags.ts'
import { cipherSuites } from './tls.ts'

const address = { shape: 'address', read: readAddress }
const controllers = oneOf('all', 'infrastructure', 'control-plane')
const workspaceAPIs = oneOf('auto', ...workspaceGroups)
const tlsVersions = oneOf('VersionTLS12', 'VersionTLS13')

export type Settings = ReturnType<typeof declare>
export type ProcessSettings = ReturnType<typeof clientFlags> & ReturnType<typeof processFlags>

function declare(flag: Declare) {
  return {
    ...clientFlags(flag),

    enabled: flag.many('enable-controller', controllers, ['all'], 'Which controllers run in this process.'),
    namespace: flag.one('namespace', anyText, '', 'Look only at this namespace; empty means at all.'),
    watchFilter: flag.one('watch-filter', anyText, '', 'Look only at objects with this cluster.x-k8s.io/watch-filter.'),
    syncMs: flag.one('sync-period', duration, '10m', 'How often every object is looked at although nothing changed.'),
    concurrency: flag.one('concurrency', wholeNumber(1), '10', perController, 'max-concurrent-reconciles'),

    workspaceAPI: flag.one('workspace-api', workspaceAPIs, 'auto', whichEngine),
    isCrossNamespaceAllowed: flag.switch('allow-cross-namespace-refs', acrossNamespaces),

    ...processFlags(flag),
  }
}

export function clientFlags(flag: Declare) {
  return {
    help: flag.switch('help', 'Print this and end.'),
    version: flag.switch('version', 'Print the version and end.'),

    kubeconfig: flag.one('kubeconfig', anyText, '', 'A kubeconfig file, when not run in a cluster.'),
    context: flag.one('context', anyText, '', 'The context of that file; empty means its current one.'),
    qps: flag.one('kube-api-qps', wholeNumber(1), '500', 'Requests a second to the API server, in the long run.'),
    burst: flag.one('kube-api-burst', wholeNumber(1), '1000', 'Requests to the API server that may come at once.'),
  }
}

export function processFlags(flag: Declare) {
  return {
    isElected: flag.switch('leader-elect', 'Work only while holding a Lease, so that several may run.'),
    leaseMs: flag.one('leader-elect-lease-duration', duration, '15s', 'How long others wait for a silent leader.'),
    renewMs: flag.one('leader-elect-renew-deadline', duration, '10s', 'How long a leader tries before it gives up.'),
    retryMs: flag.one('leader-elect-retry-period', duration, '2s', 'How long to wait between tries.'),
    leaseNamespace: flag.one('leader-election-namespace', anyText, '', 'Where the Lease is; empty means where we are.'),

    diagnostics: flag.one('diagnostics-address', address, ':8443', pages, 'metrics-bind-address', 'metrics-bind-addr'),
    isInsecure: flag.switch('insecure-diagnostics', 'Serve /metrics over plain HTTP, to anybody.'),
    health: flag.one('health-addr', address, ':9440', probes, 'health-probe-bind-address'),
    certificateFolder: flag.one('tls-cert-dir', anyText, '', certificate),
    tlsMinVersion: flag.one('tls-min-version', tlsVersions, 'VersionTLS12', 'The oldest TLS to speak.'),
    ciphers: flag.many('tls-cipher-suites', oneOf(...cipherSuites), [], suites),

    verbosity: flag.one('v', wholeNumber(0), '0', 'How much to log: from 4 on also what is for debugging.'),
    loggingFormat: flag.one('logging-format', oneOf('json'), 'json', 'How to log.'),
  }
}

const whichEngine =
  'Which API new Workspaces are made in, and so which Terraform engine runs them; auto means where ours are, else the only one served.'
const acrossNamespaces =
  'Let a WorkspaceTemplateApply name templates and Secrets of other namespaces: only where all namespaces trust each other.'
const perController = 'How many objects each controller works on at a time.'
const pages = 'Where /metrics and /debug/flags/v are, over TLS, for those whom the API server lets; 0 for nowhere.'
const probes = 'Where /healthz and /readyz are; 0 for nowhere.'
const certificate = 'A folder with tls.crt and tls.key for /metrics; empty means a certificate of our own.'
const suites = "Cipher suites of TLS 1.2, by Go's names; none means Node's. Those of TLS 1.3 are always on."

// Flags of core, of cluster-api-operator and of the predecessor that mean nothing here: a manifest that has them works.
const ignored: readonly Ignored[] = [
  { names: ['feature-gates'], why: 'there are no feature gates' },
  { names: ['profiler-address'], why: 'there is no profiler' },
  { names: ['webhook-*'], why: 'there are no webhooks' },
  { names: ['leader-election-id'], why: 'the Leases have fixed names' },
  { names: ['skip-crd-migration-phases'], why: 'nothing is skipped' },
  { names: ['*-concurrency'], why: 'use --concurrency, which is for every controller' },
  { names: ['zap-*', 'log-*', 'vmodule'], why: 'use --v; logs are JSON lines' },
]

export function settingsOf(argv: readonly string[]): {
  readonly settings: Settings
  readonly warnings: readonly string[]
} {
  const read = readFlags(argv, declare, ignored)
  checkElection(read.settings)
  return read
}

// As client-go does: otherwise a leader could still work while the next one begins.
export function checkElection({ leaseMs, renewMs, retryMs }: ProcessSettings): void {
  if (leaseMs <= renewMs)
    throw new UsageError('--leader-elect-lease-duration must be longer than --leader-elect-renew-deadline')
  if (renewMs <= retryMs * 1.2)
    throw new UsageError('--leader-elect-renew-deadline must be longer than 1.2 times --leader-elect-retry-period')
}

export const settingFlags = flagsOf(declare)

export function helpOf(): string {
  const others = ignored.flatMap(({ names }) => names.map((name) => `--${name}`)).join(', ')
  return [
    'capt-manager: the controllers of CAPT, the Cluster API provider for Terraform\n\n',
    'Usage: capt-manager [--flag=value …]\n\n',
    tellFlags(settingFlags),
    '\n',
    wrap(`Known from others, and without effect: ${others}.`, ''),
  ].join('')
}
