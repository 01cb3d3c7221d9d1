// Everything a run needs that is not in the Workspace itself, read from where it is. What may not be read is not read.
import type { ProviderConfig, Workspace, WorkspaceAPI } from '../api/workspace.ts'

// As files and environment: plain enough to be kept for a destroy after everything else is gone.
export interface Inputs {
  readonly files: Readonly<Record<string, string>> // by their path in the folder
  readonly env: Readonly<Record<string, string>> // of `env[]` alone
  readonly varArgs: readonly string[] // -var and -var-file, in their order
  readonly hasBackendFile: boolean
  readonly usesPluginCache: boolean
  readonly isLogged: boolean // enableTerraformCLILogging
  readonly secrets: readonly string[] // values that must not be seen: to scrub what commands print
}

export interface Asked {
  readonly api: WorkspaceAPI
  readonly workspace: Workspace
  readonly providerConfig: ProviderConfig
}

// What cannot be had, as a sentence that says what to do; the engine tells it as `connect failed: …`.
export class InputsError extends Error {}
