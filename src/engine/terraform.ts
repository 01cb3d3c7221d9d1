// What the engine asks of Terraform: its commands, as the engine needs them. Which program answers is not said here, so that
// an engine can be tried with one that answers at once.

// A folder with everything a command needs: made by `furnish` of `workfolder.ts`.
export interface Furnished {
  readonly folder: string // where the commands run
  readonly beside?: string // a private folder for the plan and for what commands print; none: the folder itself
  readonly env: Readonly<Record<string, string>> // the whole environment
  readonly secrets?: readonly string[] // values that must not be seen in what commands print
  readonly workspace: string // Terraform's workspace, as TF_WORKSPACE; `init` runs without
  readonly args: {
    readonly init: readonly string[] // -backend-config and initArgs
    readonly plan: readonly string[] // variables and planArgs
    readonly apply: readonly string[] // applyArgs; a saved plan has its variables in it
    readonly destroy: readonly string[] // variables and destroyArgs
  }
}

export interface Ran {
  readonly code: number // of the exit
  readonly out: string // stdout, bounded; without secrets, unless it is JSON
  readonly err: string // stderr, bounded; without secrets
  readonly ended: 'byItself' | 'timeout' | 'stopped'
}

export interface Output {
  readonly value: unknown
  readonly type: unknown // 'string', or a list as Terraform writes types
  readonly sensitive: boolean
}

export interface Terraform {
  readonly family: 'tofu' | 'terraform'
  readonly version: string
  init(where: Furnished): Promise<Ran>
  plan(where: Furnished): Promise<Ran> // code 0: nothing to do, 2: something; the plan is kept in the folder
  showPlan(where: Furnished): Promise<Ran> // its JSON
  apply(where: Furnished): Promise<Ran> // the plan that was kept
  destroy(where: Furnished): Promise<Ran>
  outputs(where: Furnished): Promise<Ran> // their JSON
  push(where: Furnished): Promise<Ran> // writes the state that was left in the folder to where it belongs
  unlock(where: Furnished, lock: string): Promise<Ran> // releases a lock by its id, whoever holds it
  forget(where: Furnished): Promise<Ran> // deletes Terraform's workspace, whose state must be empty
}
