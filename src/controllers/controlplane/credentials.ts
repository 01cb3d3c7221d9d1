// Looks at the Secrets of a control plane, has a new credential made where one is due, and asks the cluster's API server what it
// says to it. Bytes are read only where something is to be done with them. It decides nothing.
import { hashOf } from '../../api/canonical.ts'
import type { CAPTControlPlane } from '../../api/captcontrolplane.ts'
import { clusterSecretType } from '../../api/contract.ts'
import { type Cluster, remoteProbe, Secret } from '../../api/neighbours.ts'
import { isRecord } from '../../api/record.ts'
import { beside } from '../../api/resource.ts'
import { seal } from '../../api/sealed.ts'
import { getIfThere } from '../../kube/ifthere.ts'
import type { Read } from '../../runtime/cache.ts'
import type { Live } from '../../runtime/controller.ts'
import { readConnection } from '../../secrets/connection.ts'
import { copyName, isCurrent, isIntact, type Role, roles } from '../../secrets/copies.ts'
import { judgeKubeconfig } from '../../secrets/kubeconfig.ts'
import { ownedBy } from '../childapply.ts'
import { clusterNameOf, connectionName, eksNameOf, regionOf } from './eks.ts'
import { isFine } from './kubeconfigs.ts'
import type { Outside } from './outside.ts'
import type { Answer, Copy, Secrets, Seen } from './seen.ts'
import { makeCredential, materialOf } from './sources.ts'

type Around = Omit<Seen, 'secrets' | 'cluster'> & { readonly cluster: Cluster }

const unasked: Answer = { is: 'unasked' }
const none = { is: 'none' } as const

export async function lookAtSecrets(read: Read, live: Live, outside: Outside, around: Around): Promise<Secrets> {
  const { controlPlane, eks, now } = around
  const connectionKey = beside(controlPlane, connectionName(controlPlane, eks))
  const known = read.get(Secret, connectionKey)
  const revision = revisionOf(around, known)
  const copies = copiesOf(read, controlPlane, revision)
  const seen = { revision, copies, inTheWay: await inTheWayOf(live, around, copies) }
  if (!eks?.status?.applied) return { ...seen, connection: 'absent', credential: none, answer: unasked }
  const kept = async () => answerToKept(live, outside, around, copies)
  if (!known) return { ...seen, connection: 'absent', credential: none, answer: await kept() }
  if (roles.every((role) => isFine(role, copies.get(role), now)))
    return { ...seen, connection: 'unread', credential: { is: 'kept' }, answer: await kept() }
  const connection = readConnection(eks.status.outputs, (await getIfThere(live, Secret, connectionKey))?.data)
  const made = await makeCredential(outside, around, connection, async () => wayKept(live, controlPlane, copies, now))
  if (made.is !== 'made') return { ...seen, connection, credential: made, answer: await kept() }
  const answer = await outside.greet(made.way)
  return {
    ...seen,
    connection,
    credential: { is: 'fresh', material: materialOf(around, made), answer },
    answer: answer.is === 'yes' ? answer : orElse(await kept(), answer),
  }
}

function orElse(one: Answer, other: Answer): Answer {
  return one.is === 'unasked' ? other : one
}

// Everything that makes the copies what they are, but for the token.
function revisionOf(around: Around, connection: Secret | undefined): string {
  const { controlPlane, eks } = around
  const outputs = isRecord(eks?.status?.outputs) ? eks.status.outputs : {}
  return hashOf({
    cluster: clusterNameOf(controlPlane),
    owner: controlPlane.metadata.uid,
    connection: [connection?.metadata.uid, connection?.metadata.resourceVersion],
    outputs: ['cluster_endpoint', 'cluster_certificate_authority_data', 'cluster_name', 'kubeconfig'].map(
      (name) => outputs[name],
    ),
    asked: controlPlane.spec.kubeconfig,
    eks: [eksNameOf(controlPlane), regionOf(around)],
  })
}

function copiesOf(read: Read, controlPlane: CAPTControlPlane, revision: string): ReadonlyMap<Role, Copy> {
  const cluster = clusterNameOf(controlPlane)
  const whose = { cluster, owner: ownedBy(controlPlane) }
  return new Map(
    roles.flatMap((role): readonly [Role, Copy][] => {
      const secret = read.get(Secret, beside(controlPlane, copyName(role, cluster)))
      if (!secret) return []
      return [[role, { secret, isIntact: isIntact(role, secret, whose), isCurrent: isCurrent(secret, revision) }]]
    }),
  )
}

// Secrets of the right type are watched. One of another type may have a name that is ours: it is looked for when a copy is still
// missing though the cluster has been there for a while.
async function inTheWayOf(live: Live, { controlPlane, eks, now }: Around, copies: ReadonlyMap<Role, Copy>) {
  const sinceMs = now.getTime() - Date.parse(eks?.status?.lastAppliedTime ?? '')
  if (!(sinceMs > usualMs)) return []
  const names = roles.filter((role) => !copies.has(role)).map((role) => copyName(role, clusterNameOf(controlPlane)))
  const found = await Promise.all(names.map(async (name) => getIfThere(live, Secret, beside(controlPlane, name))))
  return found.filter((each) => each !== undefined).filter(({ type }) => type !== clusterSecretType)
}

const usualMs = 5000

// While core reaches the cluster with it, there is nothing to ask; nor when it has just answered: core comes a little later.
async function answerToKept(
  live: Live,
  outside: Outside,
  { controlPlane, cluster, now }: Around,
  copies: ReadonlyMap<Role, Copy>,
): Promise<Answer> {
  const isBegun = controlPlane.status?.initialization?.controlPlaneInitialized === true
  const probe = cluster.status?.conditions?.find(({ type }) => type === remoteProbe)
  if (isBegun && (probe?.status === 'True' || hasJustAnswered(controlPlane, now))) return { is: 'yes' }
  const way = await wayKept(live, controlPlane, copies, now)
  return way ? outside.greet(way) : unasked
}

const momentMs = 60_000

function hasJustAnswered({ status }: CAPTControlPlane, now: Date): boolean {
  const available = status?.conditions?.find(({ type }) => type === 'Available')
  return available?.status === 'True' && now.getTime() - Date.parse(available.lastTransitionTime) < momentMs
}

async function wayKept(live: Live, controlPlane: CAPTControlPlane, copies: ReadonlyMap<Role, Copy>, now: Date) {
  const copy = copies.get('kubeconfig')
  if (!copy?.isIntact) return undefined
  const secret = await getIfThere(live, Secret, beside(controlPlane, copy.secret.metadata.name))
  const judged = judgeKubeconfig(seal(decoded(secret?.data?.['value'] ?? '')), now)
  return judged.is === 'usable' ? judged.way : undefined
}

function decoded(base64: string): string {
  return Buffer.from(base64, 'base64').toString('utf8')
}
