// CAPT as clusterctl and cluster-api-operator install it: a file of objects for each of its two providers, and what is said of
// the release. The engine is no part of it.
//
// Both are installed in one namespace, so that their Leases keep an all-in-one manager out. Nothing but the Namespace is in
// both files: an upgrade of a provider deletes what has the provider's label before it installs anew.
import about from '../../package.json' with { type: 'json' }
import { contractLabel, providerLabel } from '../../src/api/contract.ts'
import { kinds } from '../../src/api/kinds.ts'
import { Namespace } from '../../src/api/neighbours.ts'
import { type Provider, providerName, providerOf } from '../../src/api/provider.ts'
import type { KubeObject } from '../../src/api/resource.ts'
import { crdOf } from './crd.ts'
import { containerSecurity, deploymentOf, ports, probe } from './deployment.ts'
import { policyObjects } from './policies.ts'
import { type Manager, managerRBAC, namespace, serviceAccount } from './rbac.ts'

// clusterctl leaves ClusterRoles behind, at an upgrade and at the end, unless their names begin with the namespace.
const managers: Readonly<Record<Provider, Manager>> = {
  infrastructure: { is: ['infrastructure'], account: serviceAccount, role: `${namespace}-manager` },
  'control-plane': {
    is: ['control-plane'],
    account: 'capt-control-plane-controller-manager',
    role: `${namespace}-control-plane-manager`,
  },
}

// What keeps Node within the memory that the pod has.
export const nodeOptions = '--max-semi-space-size=1 --max-old-space-size=64'

// clusterctl fills it in from its configuration or from the environment.
const variable = (name: string, fallback: string) => `\${CAPT_${name}:=${fallback}}`

function deployment({ is, account }: Manager) {
  return deploymentOf({
    account,
    container: {
      name: 'manager', // cluster-api-operator looks for it, and for --flag=value
      image: `ghcr.io/appthrust/capt:v${about.version}`,
      args: [
        '--leader-elect=true',
        `--enable-controller=${is.join(',')}`,
        `--workspace-api=${variable('WORKSPACE_API', 'tf.m.upbound.io')}`,
        `--v=${variable('VERBOSITY', '0')}`,
      ],
      env: [{ name: 'NODE_OPTIONS', value: nodeOptions }],
      ports,
      livenessProbe: { ...probe('/healthz'), initialDelaySeconds: 15, periodSeconds: 20 },
      readinessProbe: { ...probe('/readyz'), initialDelaySeconds: 5, periodSeconds: 10 },
      resources: { requests: { cpu: '10m', memory: '64Mi' }, limits: { cpu: '500m', memory: '128Mi' } },
      securityContext: containerSecurity,
    },
  })
}

function metricsService({ account }: Manager) {
  const labels = { 'app.kubernetes.io/name': account }
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: `${account}-metrics`, namespace, labels },
    spec: { selector: labels, ports: [{ name: 'https', port: 8443, targetPort: 'diagnostics' }] },
  }
}

// To be bound to whoever scrapes, whichever manager it is.
const metricsReader = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name: 'appthrust-capt-metrics-reader' },
  rules: [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }],
}

export function componentsOf(provider: Provider): readonly KubeObject[] {
  const manager = managers[provider]
  const objects: readonly KubeObject[] = [
    { apiVersion: 'v1', kind: Namespace.kind, metadata: { name: namespace } },
    ...kinds.filter((kind) => providerOf(kind) === provider).map(crdOf),
    ...managerRBAC(manager),
    ...(provider === 'infrastructure' ? [metricsReader] : []),
    metricsService(manager),
    deployment(manager),
    ...policyObjects([provider]), // last: they are about the kinds
  ]
  return objects.map(({ metadata, ...rest }) => ({
    ...rest,
    metadata: { ...metadata, labels: { ...metadata.labels, [providerLabel]: providerName(provider) } },
  }))
}

// Which contract each series of releases speaks. A series that was released stays: clusterctl upgrades only from those it finds.
export function releaseMetadata() {
  const [major, minor] = about.version.split('.').map(Number)
  return {
    apiVersion: 'clusterctl.cluster.x-k8s.io/v1alpha3',
    kind: 'Metadata',
    releaseSeries: [{ major, minor, contract: contractLabel.split('/')[1] }],
  }
}
