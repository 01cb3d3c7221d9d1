// What the engine tells of its last plan, in an annotation of the Workspace: how much would change, what would go, and
// whether that waits for somebody's word. Written by the engine, read by the manager and by people. Pure.

export interface PlanNote {
  readonly id: string // what `approve` must say: a hash of the revision and of what would go
  readonly create: number
  readonly update: number
  readonly replace: number
  readonly delete: number
  readonly gone: readonly string[] // addresses of what would be deleted or replaced, the first 20
  readonly held?: Held
}

// Why it waits. Destructive: it deletes or replaces, and the Workspace is guarded. Interrupted: an apply was killed, and
// what it may have made would be made again. AnotherCLI: the state was written by the other family of command lines.
export type Held = 'Destructive' | 'Interrupted' | 'AnotherCLI'
