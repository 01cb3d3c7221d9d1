// Who did what to the API server, as it wrote down itself: one record for each request, written when it is
// answered (a watch when it begins, for it may never end).
import { copyFile, mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stringify } from 'yaml'

export interface AuditRecord {
  readonly at: Date
  readonly user: string
  readonly userAgent: string
  readonly credential: string // which token of a ServiceAccount was shown; empty: another kind of credential
  readonly verb: string // get, list, watch, create, update, patch, delete, deletecollection
  readonly path: string // with its query
  readonly group: string
  readonly resource: string // plural, with `/status` and the like behind it
  readonly namespace: string
  readonly name: string
  readonly code: number
  readonly isForbidden: boolean // for want of a right, not because of what was asked: in a namespace that goes nothing is made
  readonly body: unknown // what a write sent; never of a Secret
  readonly resourceVersion: string // of the object as a write left it, where the policy keeps answers; else empty
}

export interface AuditQuery {
  readonly user?: string
  readonly verb?: string
  readonly resource?: string
  readonly namespace?: string
  readonly since?: Date
}

// Bodies of writes are kept, so that tests can see what was asked for; Secrets and tokens are known by name only.
export const auditPolicy = stringify({
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [
    { level: 'None', nonResourceURLs: ['/healthz*', '/readyz*', '/livez*'] },
    { level: 'Metadata', verbs: ['watch'], omitStages: ['ResponseComplete'] },
    {
      level: 'Metadata',
      resources: [
        { group: '', resources: ['secrets', 'serviceaccounts/token'] },
        { group: 'authentication.k8s.io', resources: ['tokenreviews'] },
      ],
    },
    {
      // Revisions of etcd put writes in one order, whoever asked first.
      level: 'RequestResponse',
      omitManagedFields: true,
      verbs: ['create', 'patch'],
      resources: [
        { group: 'coordination.k8s.io', resources: ['leases'] },
        { group: 'events.k8s.io', resources: ['events'] },
        { group: 'infrastructure.cluster.x-k8s.io', resources: ['workspacetemplates/status'] },
      ],
    },
    { level: 'Request', verbs: ['create', 'update', 'patch', 'delete', 'deletecollection'] },
    { level: 'Metadata', omitStages: ['ResponseStarted'] },
  ],
})

export async function readAudit(file: string, query: AuditQuery = {}): Promise<readonly AuditRecord[]> {
  const text = await readFile(file, 'utf8')
  const whole = text.slice(0, text.lastIndexOf('\n')) // the last line may be half written
  return whole
    .split('\n')
    .filter(Boolean)
    .map((line) => recordOf(JSON.parse(line) as AuditEvent))
    .filter((record) => fits(record, query))
}

export function isWrite({ verb }: AuditRecord): boolean {
  return !['get', 'list', 'watch'].includes(verb)
}

// What happened at another API server of the same run, kept beside the bed's own log for whoever judges the whole run.
export async function lendAudit(
  { folder }: { readonly folder: string },
  auditLog: string,
  name: string,
): Promise<void> {
  await mkdir(join(folder, lent), { recursive: true })
  await copyFile(auditLog, join(folder, lent, name))
}

export async function lentAudits({ folder }: { readonly folder: string }): Promise<readonly string[]> {
  const names = await readdir(join(folder, lent)).catch(() => [])
  return names.map((name) => join(folder, lent, name))
}

const lent = 'lent-audit-logs'

function fits(record: AuditRecord, { since, ...wanted }: AuditQuery): boolean {
  if (since && record.at < since) return false
  return (Object.entries(wanted) as [keyof typeof wanted, string | undefined][]).every(
    ([field, value]) => value === undefined || record[field] === value,
  )
}

// audit.k8s.io/v1 Event: what we read of it.
interface AuditEvent {
  readonly requestReceivedTimestamp: string
  readonly verb: string
  readonly requestURI: string
  readonly user: { readonly username: string; readonly extra?: Readonly<Record<string, readonly string[]>> }
  readonly userAgent?: string
  readonly objectRef?: {
    readonly apiGroup?: string
    readonly resource?: string
    readonly subresource?: string
    readonly namespace?: string
    readonly name?: string
  }
  readonly responseStatus?: { readonly code?: number }
  readonly annotations?: Readonly<Record<string, string>>
  readonly requestObject?: unknown
  readonly responseObject?: { readonly metadata?: { readonly resourceVersion?: string } }
}

function recordOf(event: AuditEvent): AuditRecord {
  const object = event.objectRef ?? {}
  return {
    at: new Date(event.requestReceivedTimestamp),
    user: event.user.username,
    userAgent: event.userAgent ?? '',
    credential: event.user.extra?.['authentication.kubernetes.io/credential-id']?.[0] ?? '',
    verb: event.verb,
    path: event.requestURI,
    group: object.apiGroup ?? '',
    resource: [object.resource ?? '', object.subresource].filter(Boolean).join('/'),
    namespace: object.namespace ?? '',
    name: object.name ?? '',
    code: event.responseStatus?.code ?? 0,
    isForbidden: event.annotations?.['authorization.k8s.io/decision'] === 'forbid',
    body: event.requestObject,
    resourceVersion: event.responseObject?.metadata?.resourceVersion ?? '',
  }
}
