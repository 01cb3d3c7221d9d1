// Makes the spec of a Workspace of a template, an apply and the values it asked for. Pure: everything was read before.
import type { Sealed } from '../api/sealed.ts'
import type { WorkspaceAPI, WorkspaceSpec } from '../api/workspace.ts'
import type { WorkspaceTemplate } from '../api/workspacetemplate.ts'
import type { WorkspaceTemplateApply } from '../api/workspacetemplateapply.ts'

// A value of `variablesFrom`, as it was found.
export type Found =
  | { readonly is: 'known'; readonly value: unknown; readonly isSensitive: boolean } // from a Secret, or a sensitive output
  | { readonly is: 'missing'; readonly why: string } // what is not there, for people

export interface Asked {
  readonly apply: Pick<WorkspaceTemplateApply, 'metadata' | 'spec'>
  readonly template: Pick<WorkspaceTemplate, 'metadata' | 'spec'>
  readonly api: Pick<WorkspaceAPI, 'group' | 'isNamespaced'>
  readonly workspace: string // its name: of `workspaceNameOf`, or the old one of a Workspace that was adopted
  readonly found: ReadonlyMap<string, Found> // by the name of the variable
  readonly isCrossNamespaceAllowed: boolean
  // Random, and kept in the Secret of `varsSecretOf` once there is one: a revision is public, and nobody shall guess secrets by it.
  readonly salt: Sealed
}

export interface Rendered {
  readonly is: 'rendered'
  readonly spec: WorkspaceSpec
  readonly secretVars: Sealed | undefined // JSON of the variables that must not be in a Workspace
  readonly revision: string // changes with anything that reaches Terraform, secret values included, and with nothing else
}

export interface Refused {
  readonly is: 'refused'
  readonly reason:
    | 'MissingVariables'
    | 'UnknownVariables'
    | 'InvalidVariables'
    | 'UnsafeValue'
    | 'CrossNamespaceReference'
  readonly message: string // names what and where, says what to write; never a value
}

export declare function render(asked: Asked): Rendered | Refused
