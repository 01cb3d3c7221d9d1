// What is looked at to judge a control plane, as plain data.
import type { CAPTCluster } from '../../api/captcluster.ts'
import type { CAPTControlPlane } from '../../api/captcontrolplane.ts'
import type { Secret } from '../../api/neighbours.ts'
import type { Key } from '../../api/resource.ts'
import type { Workspace } from '../../api/workspace.ts'
import type { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'
import type { Connection } from '../../secrets/connection.ts'
import type { Material, Role } from '../../secrets/copies.ts'
import type { Account } from '../account.ts'
import type { Found } from '../childapply.ts'
import type { Named, OwnerCluster } from '../ownercluster.ts'
import type { MadeOf } from './template.ts'

export interface Seen {
  readonly controlPlane: CAPTControlPlane
  readonly now: Date
  readonly cluster: OwnerCluster
  readonly network: Named<CAPTCluster> // of the same Cluster; undefined: another provider looks after it
  readonly eks: Found['apply'] // ours
  readonly taken: Found['taken'] // somebody else's of that name
  readonly left: Workspace | undefined // by an apply of ours that is gone
  readonly vpc: Found['apply'] // the network's
  readonly accountOfTemplate: Account | undefined // what its template says; undefined: that is not there
  readonly spotRole: WorkspaceTemplateApply | undefined
  readonly claimedBy: Key | undefined // another control plane that has the name in EKS already
  readonly namesake: Key | undefined // one of another namespace whose cluster a token that is signed for this one would open, too
  readonly template: MadeOf | undefined // of the Cluster's class; undefined: a user wrote it
  readonly secrets: Secrets
  readonly inside: Inside
}

// Of a cluster that goes: what is left in it that has made something in AWS.
export type Inside =
  | { readonly is: 'unasked' }
  | { readonly is: 'clean' }
  | { readonly is: 'left'; readonly services: readonly string[] } // they are told to go
  | { readonly is: 'unknown'; readonly why: string }

export interface Secrets {
  readonly revision: string // of the copies as they should be
  readonly copies: ReadonlyMap<Role, Copy> // those that are there
  readonly inTheWay: readonly Secret[] // under names that are ours, and of another type
  readonly connection: Connection | 'absent' | 'unread' // unread: there is nothing to do with it
  readonly credential: Credential
  readonly answer: Answer // to the kubeconfig that is kept
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
  | Fresh
  | { readonly is: 'refused'; readonly mend: Mend; readonly why: string }

export interface Fresh {
  readonly is: 'fresh'
  readonly material: Material
  readonly answer: Answer // what is said to it
  readonly isInstead?: true // of the template's, which is rejected
}

// Where somebody has to mend something before there can be one: nowhere, for it passes; elsewhere, of which nothing tells us; here, in the
// spec or in the template.
export type Mend = 'nowhere' | 'elsewhere' | 'here'

// What the API server of the cluster says to a credential.
export type Answer = { readonly is: 'yes' } | No | { readonly is: 'unasked' }

export interface No {
  readonly is: 'no'
  readonly why: string
  readonly isRejected?: true // it is there, and does not take the credential
  readonly isSilent?: true // there is nobody, whatever one shows
}
