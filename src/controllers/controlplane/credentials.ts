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
import { copyName, isCurrent, isIntact, isRenewed, type Role, roles, timesOf } from '../../secrets/copies.ts'
import { judgeKubeconfig, type Way } from '../../secrets/kubeconfig.ts'
import { ownedBy } from '../childapply.ts'
import { clusterNameOf, connectionName, eksNameOf, regionOf } from './eks.ts'
import type { Outside } from './outside.ts'
import type { Answer, Copy, Secrets, Seen } from './seen.ts'
import { makeCredential, materialOf } from './sources.ts'
import { due, foreignness, isSpurned, lacking } from './upkeep.ts'

type Around = Omit<Seen, 'secrets' | 'inside' | 'cluster'> & { readonly cluster: Cluster }
type Copies = Secrets['copies']

// All of them, or only tokens that are due.
export type Care = 'all' | 'tokens'

const unasked: Answer = { is: 'unasked' }
const none = { is: 'none' } as const

export async function lookAtSecrets(
  read: Read,
  live: Live,
  outside: Outside,
  around: Around,
  care: Care,
): Promise<Secrets> {
  const { controlPlane, eks, now } = around
  const connectionKey = beside(controlPlane, connectionName(controlPlane, eks))
  const known = read.get(Secret, connectionKey)
  const revision = revisionOf(around, known)
  // Of what there is now, when that is gone, nothing can be said.
  const cached = copiesOf(read, controlPlane, known && revision)
  const nothing = { revision, connection: 'absent', credential: none, answer: unasked } as const
  if (!eks || !(eks.status?.applied || wasThere(around, cached))) return { ...nothing, copies: cached, inTheWay: [] }

  const found = care === 'all' ? await sortedOut(live, around, cached) : { copies: cached, inTheWay: [] }
  const { copies } = found
  const unknown: Secrets = { ...nothing, ...found }
  const kept = async () => (care === 'all' ? answerToKept(live, outside, around, copies) : unasked)
  const connection = async () =>
    readConnection(eks.status?.outputs, known && (await getIfThere(live, Secret, connectionKey))?.data)
  const wantedAt = (answer: Answer) => {
    const seen = { ...around, secrets: { ...found, answer } }
    return (care === 'all' ? lacking(seen) : due(seen)).length > 0
  }
  const asked = wantedAt(unasked) ? undefined : await kept()
  if (asked && !wantedAt(asked)) {
    if (!known) return { ...unknown, answer: asked }
    const isUnread = care === 'tokens' || isEndpointKnown(around)
    const seen = { ...unknown, answer: asked, credential: { is: 'kept' } } as const
    return { ...seen, connection: isUnread ? 'unread' : await connection() }
  }
  if (!known && !isEnough(around, copies)) return { ...unknown, answer: asked ?? (await kept()) }

  const told = await connection()
  const isUseless = asked !== undefined && isSpurned({ ...around, secrets: { ...found, answer: asked } })
  const last = async () => (isUseless ? undefined : wayKept(live, controlPlane, copies, now))
  const made = await makeCredential(outside, around, told, last)
  const seen = { ...unknown, connection: known ? told : ('absent' as const) }
  if (made.is !== 'made') return { ...seen, credential: made, answer: asked ?? (await kept()) }
  const { answer, isInstead } = made
  const material = materialOf(around, made)
  return {
    ...seen,
    credential: { is: 'fresh', material, answer, ...(isInstead && { isInstead }) },
    answer: asked ?? (answer.is === 'yes' ? unasked : await kept()),
  }
}

// The cluster was there before, whatever its apply says of itself: that may have lost its status, by a restore, or be a new one.
function wasThere(around: Around, copies: Copies): boolean {
  const isOurs = ({ secret }: Copy) => foreignness(around, secret) === undefined
  return around.controlPlane.spec.controlPlaneEndpoint !== undefined || [...copies.values()].some(isOurs)
}

// Whether the outputs will do while the connection is gone. Where the template wrote a kubeconfig, it comes again with it.
function isEnough(around: Around, copies: Copies): boolean {
  if (!wasThere(around, copies)) return false
  const { source = 'Auto', serviceAccount } = around.controlPlane.spec.kubeconfig ?? {}
  const tokens = roles.filter(isRenewed).flatMap((role) => copies.get(role) ?? [])
  switch (source) {
    case 'Template':
      return false
    case 'AWS':
      return true
    case 'ServiceAccount':
      return serviceAccount?.bootstrap !== 'Template' || tokens.some(({ isIntact: isWhole }) => isWhole)
    case 'Auto':
      return tokens.some(({ secret }) => timesOf(secret).renews !== undefined)
  }
}

// Without the connection.
function isEndpointKnown({ controlPlane, eks }: Around): boolean {
  return (
    controlPlane.spec.controlPlaneEndpoint !== undefined || readConnection(eks?.status?.outputs).endpoint !== undefined
  )
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

function copiesOf(read: Read, controlPlane: CAPTControlPlane, revision: string | undefined): Copies {
  const cluster = clusterNameOf(controlPlane)
  const whose = { cluster, owner: ownedBy(controlPlane) }
  return new Map(
    roles.flatMap((role): readonly [Role, Copy][] => {
      const secret = read.get(Secret, beside(controlPlane, copyName(role, cluster)))
      if (!secret) return []
      const isMadeOfThis = revision === undefined || isCurrent(secret, revision)
      return [[role, { secret, isIntact: isIntact(role, secret, whose), isCurrent: isMadeOfThis }]]
    }),
  )
}

// Secrets of the right type are watched. One of another type may have a name that is ours: it is looked for when a copy is still
// missing though the cluster has been there for a while, and where something is in its place that we did not write.
async function sortedOut(
  live: Live,
  { controlPlane, eks, now }: Around,
  cached: Copies,
): Promise<Pick<Secrets, 'copies' | 'inTheWay'>> {
  const since = eks?.status?.applied ? eks.status.lastAppliedTime : eks?.metadata.creationTimestamp
  const isStanding = now.getTime() - Date.parse(since ?? '') > usualMs
  const doubtful = roles.filter((role) => (cached.has(role) ? !cached.get(role)?.isIntact : isStanding))
  const names = doubtful.map((role) => copyName(role, clusterNameOf(controlPlane)))
  const found = await Promise.all(names.map(async (name) => getIfThere(live, Secret, beside(controlPlane, name))))
  const inTheWay = found.flatMap((each) => {
    if (!each || each.type === clusterSecretType) return []
    const { data: _, ...secret } = each
    return [secret]
  })
  const isThere = ({ secret }: Copy) => !inTheWay.some(({ metadata }) => metadata.name === secret.metadata.name)
  return { copies: new Map([...cached].filter(([, copy]) => isThere(copy))), inTheWay }
}

const usualMs = 5000

// While core reaches the cluster with it, there is nothing to ask; nor when it has just answered: core comes a little later.
async function answerToKept(
  live: Live,
  outside: Outside,
  { controlPlane, cluster, now }: Around,
  copies: Copies,
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

async function wayKept(live: Live, controlPlane: CAPTControlPlane, copies: Copies, now: Date) {
  const copy = copies.get('kubeconfig')
  if (!copy?.isIntact) return undefined
  const secret = await getIfThere(live, Secret, beside(controlPlane, copy.secret.metadata.name))
  const judged = judgeKubeconfig(seal(decoded(secret?.data?.['value'] ?? '')), now)
  return judged.is === 'usable' ? judged.way : undefined
}

export async function keptWay(read: Read, live: Live, { controlPlane, now }: Pick<Seen, 'controlPlane' | 'now'>) {
  return wayKept(live, controlPlane, copiesOf(read, controlPlane, undefined), now)
}

// Of what there is, be it the outputs alone: where all of a namespace goes, Secrets go first.
export async function anotherWay(
  live: Live,
  outside: Outside,
  around: Omit<Seen, 'secrets' | 'inside'>,
): Promise<Way | { readonly why: string }> {
  const { controlPlane, eks } = around
  const secret = await getIfThere(live, Secret, beside(controlPlane, connectionName(controlPlane, eks)))
  const connection = readConnection(eks?.status?.outputs, secret?.data)
  const made = await makeCredential(outside, around, connection, async () => undefined)
  if (made.is === 'made') return made.way
  const why = made.is === 'refused' ? made.why : connection.complaints.join('; ')
  return { why: `there is no kubeconfig, and none can be made: ${why}` }
}

function decoded(base64: string): string {
  return Buffer.from(base64, 'base64').toString('utf8')
}
