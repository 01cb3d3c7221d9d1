// The four Secrets in which a cluster's kubeconfigs and CA are kept: what each holds, and whether one is still as we wrote it,
// which can be told without reading it. Pure.
import { clusterNameLabel, clusterSecretType } from '../api/contract.ts'
import { annotations, secretsManager, tokenNotes } from '../api/keys.ts'
import { timeOf } from '../api/moment.ts'
import type { Secret } from '../api/neighbours.ts'
import type { KubeObject, OwnerReference } from '../api/resource.ts'
import type { Sealed } from '../api/sealed.ts'

export const roles = ['kubeconfig', 'controlPlaneKubeconfig', 'userKubeconfig', 'ca'] as const
export type Role = (typeof roles)[number]

export function copyName(role: Role, cluster: string): string {
  switch (role) {
    case 'kubeconfig':
      return `${cluster}-kubeconfig` // where core looks
    case 'controlPlaneKubeconfig':
      return `${cluster}-control-plane-kubeconfig`
    case 'userKubeconfig':
      return `${cluster}-user-kubeconfig`
    case 'ca':
      return `${cluster}-ca`
  }
}

const keysOf: Readonly<Record<Role, readonly string[]>> = {
  kubeconfig: ['value'],
  controlPlaneKubeconfig: ['value'],
  userKubeconfig: ['value'],
  ca: ['ca.crt', 'tls.crt'],
}

// With a token in it.
export function isRenewed(role: Role): boolean {
  return role === 'kubeconfig' || role === 'controlPlaneKubeconfig'
}

// What they are made of.
export interface Material {
  readonly kubeconfig: Sealed
  readonly userKubeconfig: string
  readonly ca: string // PEM
  readonly expires: Date | undefined // its token; undefined: it does not
  readonly renews: Date | undefined // when we are to have the next one; undefined: somebody else has
}

export interface Whose {
  readonly namespace: string | undefined
  readonly cluster: string
  readonly owner: OwnerReference // a controller
  readonly revision: string // changes with everything that makes them what they are, but for the token
}

export function copyOf(role: Role, { namespace, cluster, owner, revision }: Whose, material: Material): Secret {
  const { expires, renews } = material
  const told = (time: Date | undefined) => (time ? timeOf(time) : 'never')
  // Told even when there is none: what somebody took away would not be missed.
  const times = isRenewed(role) && {
    [annotations.tokenExpires]: told(expires),
    [annotations.tokenRenews]: told(renews),
  }
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    type: clusterSecretType,
    metadata: {
      name: copyName(role, cluster),
      ...(namespace !== undefined && { namespace }),
      labels: { [clusterNameLabel]: cluster },
      annotations: { [annotations.revision]: revision, ...times },
      ownerReferences: [owner],
    },
    data: dataOf(role, material),
  }
}

function dataOf(role: Role, { kubeconfig, userKubeconfig, ca }: Material): Readonly<Record<string, string>> {
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  switch (role) {
    case 'kubeconfig':
    case 'controlPlaneKubeconfig':
      return { value: base64(kubeconfig.open()) }
    case 'userKubeconfig':
      return { value: base64(userKubeconfig) }
    case 'ca':
      return { 'tls.crt': base64(ca), 'ca.crt': base64(ca) }
  }
}

// The API server keeps book of who wrote which field last: where every key is still ours, its bytes are as we wrote them, and so are the
// times of its token.
export function isIntact(
  role: Role,
  { metadata }: Secret,
  { cluster, owner }: Pick<Whose, 'cluster' | 'owner'>,
): boolean {
  const { labels = {}, ownerReferences = [], managedFields = [], deletionTimestamp } = metadata
  const ours = managedFields
    .filter((each) => each.manager === secretsManager && each.operation === 'Apply')
    .map(({ fieldsV1 }) => fieldsV1)
  return (
    deletionTimestamp === undefined &&
    labels[clusterNameLabel] === cluster &&
    ownerReferences.some(({ uid, controller }) => uid === owner.uid && controller) &&
    keysOf[role].every((key) => ours.some((each) => each?.['f:data']?.[`f:${key}`])) &&
    (!isRenewed(role) ||
      tokenNotes.every((name) => ours.some((each) => each?.['f:metadata']?.['f:annotations']?.[`f:${name}`])))
  )
}

// Whether it is made of what there is now, as far as it is not the token.
export function isCurrent({ metadata }: Secret, revision: string): boolean {
  return metadata.annotations?.[annotations.revision] === revision
}

// Until when its token is good, and when the next one is due. Undefined: never.
export function timesOf({ metadata }: KubeObject): {
  readonly expires: Date | undefined
  readonly renews: Date | undefined
} {
  const read = (key: string) => {
    const time = Date.parse(metadata.annotations?.[key] ?? '')
    return Number.isNaN(time) ? undefined : new Date(time)
  }
  return { expires: read(annotations.tokenExpires), renews: read(annotations.tokenRenews) }
}
