// A Deployment of one of our programs: what all of them have, and nothing that they may do without.
import { namespace } from './rbac.ts'

interface Program {
  readonly account: string // which the Deployment is called after
  readonly pod?: object // more of its spec
  readonly container: object
  readonly volumes?: readonly object[]
}

export function deploymentOf({ account, pod, container, volumes }: Program) {
  const labels = { 'app.kubernetes.io/name': account }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: account, namespace, labels },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          serviceAccountName: account,
          ...pod,
          securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
          containers: [container],
          ...(volumes && { volumes }),
        },
      },
    },
  }
}

export const ports = [
  { name: 'health', containerPort: 9440 },
  { name: 'diagnostics', containerPort: 8443 },
]

export const containerSecurity = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
}

export const probe = (path: string) => ({ httpGet: { path, port: 'health' } })
