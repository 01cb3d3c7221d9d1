// What is looked at to judge an apply, as plain data.
import type { ConfigMap, Secret } from '../../api/neighbours.ts'
import type { Resource } from '../../api/resource.ts'
import type { Sealed } from '../../api/sealed.ts'
import type { Workspace, WorkspaceAPI } from '../../api/workspace.ts'
import type { WorkspaceTemplate } from '../../api/workspacetemplate.ts'
import type { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'
import type { Found } from '../../terraform/render.ts'
import type { StateHome } from '../../terraform/statehome.ts'
import type { Dependency } from './dependencies.ts'
import type { Pause } from './pause.ts'

export interface Seen {
  readonly apply: WorkspaceTemplateApply
  readonly now: Date
  readonly pause: Pause
  readonly isAskedFor: boolean // a CAPTCluster or CAPTControlPlane is there that asks for it
  readonly template: WorkspaceTemplate | undefined
  readonly where: Where | Nowhere
  readonly isNamespaceLeaving: boolean // asked only when it matters
  readonly dependencies: readonly Dependency[]
  readonly ring: readonly string[] | undefined // applies that wait for each other, this one among them
  readonly dependents: readonly string[] // applies that use this one and still have a Workspace
  readonly sources: readonly Source[]
  readonly found: ReadonlyMap<string, Found> // by the name of the variable
  readonly secret: Secret | undefined // with the variables that must not be in a Workspace, and the salt
  readonly isSecretTaken: boolean // there is one of that name which is not of this apply
  readonly luggage: Pick<Secret, 'metadata'> | undefined // in which its state is moved to another cluster; never its bytes
  readonly isLuggageBarred: boolean // one of that name is not of this apply, or none can be made in a namespace that goes
  readonly isLuggageLost: boolean // it had one, for it had a Workspace, and neither is here, or nobody can tell that it is the one
  readonly home: StateHome | undefined // of the state, where Crossplane keeps it; asked only when it matters
  readonly salt: Sealed // of that Secret, or a new one
  readonly isCrossNamespaceAllowed: boolean
}

// Where its Workspace is, or is to be.
export interface Where {
  readonly is: 'known'
  readonly api: WorkspaceAPI
  readonly isServed: boolean
  readonly isCrossplane: boolean // Crossplane serves it, not we
  readonly name: string
  readonly externalName: string
  readonly isRecorded: boolean // our own status says that this is it
  readonly workspace: Workspace | undefined // of that name, whosever it is
  // Of a Workspace that no engine has begun with: when to call it silent.
  readonly silentAt: number | undefined
}

export interface Nowhere {
  readonly is: 'none'
  readonly reason: 'NoEngine' | 'AmbiguousEngine' | 'StateMissing'
  readonly message: string
}

// A Secret or a ConfigMap that a variable comes from.
export interface Source {
  readonly resource: Resource
  readonly object: Secret | ConfigMap
}
