// capt-engine as it is installed: its account and what that may do, the account of the states, and a Deployment.
import { CustomResourceDefinition, Lease, Namespace } from '../../src/api/neighbours.ts'
import { resourceName } from '../../src/api/resource.ts'
import { engineAPIs } from '../../src/engine/engine.ts'
import { engineRights, stateRights } from '../../src/engine/rights.ts'
import { lease } from '../../src/engine/serve.ts'
import { engineSettingsOf, gracePeriodSeconds } from '../../src/engine/settings.ts'
import { stateAccount, stateObjects } from '../../src/engine/stateaccess.ts'
import { type Rule, rulesOf } from '../../src/runtime/rights.ts'
import { stateNamespace } from '../../src/terraform/statesecret.ts'
import { containerSecurity, deploymentOf, ports, probe } from './deployment.ts'
import { namespace, processRights } from './rbac.ts'

export const engineAccount = 'capt-engine'
const name = 'appthrust-capt-engine'
const group = 'rbac.authorization.k8s.io'
const apiVersion = `${group}/v1`

function clusterRole() {
  const crds = engineAPIs.map(({ workspace }) => resourceName(workspace))
  const rules = rulesOf([...engineRights, ...processRights]).map((rule) =>
    rule.apiGroups.includes(CustomResourceDefinition.group) ? { ...rule, resourceNames: crds } : rule,
  )
  return { apiVersion, kind: 'ClusterRole', metadata: { name }, rules }
}

const subjects = [{ kind: 'ServiceAccount', name: engineAccount, namespace }]

function roleIn(where: string, rules: readonly (Rule & { readonly resourceNames?: readonly string[] })[]) {
  const metadata = { name, namespace: where }
  return [
    { apiVersion, kind: 'Role', metadata, rules },
    { apiVersion, kind: 'RoleBinding', metadata, roleRef: { apiGroup: group, kind: 'Role', name }, subjects },
  ]
}

function leaseRules() {
  const of = { apiGroups: [Lease.group], resources: [Lease.plural] }
  return [
    { ...of, verbs: ['create'] },
    { ...of, verbs: ['get', 'patch'], resourceNames: [lease] },
  ]
}

const tokenRule = {
  apiGroups: [''],
  resources: ['serviceaccounts/token'],
  verbs: ['create'],
  resourceNames: [stateAccount],
}

// Whoever follows has little to hurry for, and an API server that is away for a minute is no reason to interrupt a run.
const flags = [
  '--leader-elect',
  '--leader-elect-lease-duration=180s',
  '--leader-elect-renew-deadline=120s',
  '--leader-elect-retry-period=10s',
  '--root=/work',
]

function deployment() {
  const often = { periodSeconds: 10, failureThreshold: 3 }
  return deploymentOf({
    account: engineAccount,
    pod: { terminationGracePeriodSeconds: gracePeriodSeconds(engineSettingsOf(flags).settings) },
    container: {
      name: 'engine',
      image: 'ghcr.io/appthrust/capt-engine',
      args: flags,
      ports,
      livenessProbe: { ...probe('/healthz'), ...often },
      readinessProbe: { ...probe('/readyz'), ...often },
      // Four runs at a time, each with its providers.
      resources: { requests: { cpu: '100m', memory: '256Mi' }, limits: { memory: '4Gi' } },
      securityContext: containerSecurity,
      volumeMounts: [{ name: 'work', mountPath: '/work' }],
    },
    volumes: [{ name: 'work', emptyDir: {} }],
  })
}

export function engineObjects(): readonly object[] {
  return [
    { apiVersion: 'v1', kind: Namespace.kind, metadata: { name: namespace } },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: engineAccount, namespace } },
    clusterRole(),
    {
      apiVersion,
      kind: 'ClusterRoleBinding',
      metadata: { name },
      roleRef: { apiGroup: group, kind: 'ClusterRole', name },
      subjects,
    },
    ...roleIn(namespace, leaseRules()),
    ...stateObjects().map(([, object]) => object),
    ...roleIn(stateNamespace, [...rulesOf(stateRights), tokenRule]),
    deployment(),
  ]
}
