// What is looked at to judge a control plane, as plain data.
import type { CAPTCluster } from '../../api/captcluster.ts'
import type { CAPTControlPlane } from '../../api/captcontrolplane.ts'
import type { Secret } from '../../api/neighbours.ts'
import type { Key } from '../../api/resource.ts'
import type { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'
import type { Connection } from '../../secrets/connection.ts'
import type { Material, Role } from '../../secrets/copies.ts'
import type { Found } from '../childapply.ts'
import type { OwnerCluster } from '../ownercluster.ts'

export interface Seen {
  readonly controlPlane: CAPTControlPlane
  readonly now: Date
  readonly cluster: OwnerCluster
  readonly network: CAPTCluster | undefined // of the same Cluster; undefined: it has none of ours
  readonly eks: Found['apply'] // ours
  readonly taken: Found['taken'] // somebody else's of that name
  readonly spotRole: WorkspaceTemplateApply | undefined
  readonly claimedBy: Key | undefined // another control plane that has the name in EKS already
  readonly namesake: Key | undefined // one of another namespace whose cluster a token that is signed for this one would open, too
  readonly secrets: Secrets
}

export interface Secrets {
  readonly revision: string // of the copies as they should be
  readonly copies: ReadonlyMap<Role, Copy> // those that are there
  readonly inTheWay: readonly Secret[] // under names that are ours, and of another type
  readonly connection: Connection | 'absent' | 'unread' // unread: there is nothing to do with it
  readonly credential: Credential
  readonly answer: Answer // to the best credential there is: a fresh one it takes, else the one that is kept
}

// As the cache knows it, without its bytes.
export interface Copy {
  readonly secret: Secret
  readonly isIntact: boolean // it is as we wrote it
  readonly isCurrent: boolean // and made of what there is now
}

// What the kubeconfigs are to be.
export type Credential =
  | { readonly is: 'kept' } // as they are
  | { readonly is: 'none' } // it cannot be known yet
  | { readonly is: 'fresh'; readonly material: Material; readonly answer: Answer } // and what is said to it
  | { readonly is: 'refused'; readonly isFinal: boolean; readonly why: string } // final: somebody has to change something

// What the API server of the cluster says to a credential.
export type Answer = { readonly is: 'yes' } | No | { readonly is: 'unasked' }

export interface No {
  readonly is: 'no'
  readonly why: string
  readonly isSilent?: true // there is nobody, whatever one shows
}
