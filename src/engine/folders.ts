// The work folders of all Workspaces: furnished for a pass, and taken away with their Workspace.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { crossplane, type Workspace } from '../api/workspace.ts'
import { leftState } from '../terraform/state.ts'
import type { Environment, Inputs } from './inputs.ts'
import type { Furnished, Ran, Terraform } from './terraform.ts'
import { clear, dropPlan, foldersOf, furnish, holdsState, noteRun, readCutOff } from './workfolder.ts'

export interface Folders {
  // Puts everything into the folder of the Workspace.
  furnish(workspace: Workspace, inputs: Inputs): Promise<Folder>
  // Whether a state lies in it that is nowhere else: such a folder is not taken away.
  holdsState(workspace: Workspace): Promise<boolean>
  remove(workspace: Workspace): Promise<void>
}

export interface Folder extends Furnished {
  readonly checksum: string // of all that is in it
  readonly isInitialised: boolean // for just that
  noteInitialised(): Promise<void>
  // With what it printed, when that run is noted again because the next one did not begin.
  noteRun(startedAt: string, printed?: string): Promise<void>
  // What that run printed, when it was killed; empty: it never began, or it ended; undefined: it was in another folder.
  cutOff(startedAt: string): Promise<string | undefined>
  // The state that a command could not write to where it belongs, and which is nowhere else.
  leftState(): Promise<string | undefined>
  dropPlan(): Promise<void> // at the end of a pass: it holds secrets
}

export interface FoldersOptions {
  readonly root: string // absolute
  readonly cli: Pick<Terraform, 'family' | 'version'>
  readonly given: Readonly<Record<string, string>> // to every command
  readonly ours: Environment
  load(where: Furnished): Promise<Ran>
}

export function createFolders({ root, cli: { family, version }, given, ours, load }: FoldersOptions): Folders {
  return {
    async furnish({ metadata, spec }, inputs) {
      const { uid = '', name, annotations } = metadata
      const folder = await furnish({
        root,
        uid,
        inputs,
        said: spec.forProvider,
        workspace: annotations?.[crossplane.externalName] ?? name,
        cli: `${family} ${version}`,
        pluginCache: join(root, 'plugins'),
        given,
        ours,
        load,
      })
      return {
        ...folder,
        leftState: async () => readFile(join(folder.folder, leftState), 'utf8').catch(() => undefined),
        dropPlan: async () => dropPlan(root, uid),
        noteRun: async (startedAt, printed) => noteRun(root, uid, startedAt, printed),
        cutOff: async (startedAt) => readCutOff(root, uid, startedAt),
      }
    },
    holdsState: async ({ metadata: { uid = '' } }) => holdsState(root, uid),
    async remove({ metadata: { uid = '' } }) {
      if (!(await holdsState(root, uid))) await clear(root, uid)
    },
  }
}

// Takes away the folders of Workspaces that are no more, but none with a state that is nowhere else. One that was unknown only once
// may be of a Workspace that is new. Where it is not known which Workspaces there are, nothing is.
export function createSweep(
  root: string,
  known: () => ReadonlySet<string> | undefined,
): (isFirst: boolean) => Promise<void> {
  let suspects: ReadonlySet<string> = new Set()
  return async (isFirst) => {
    const all = await foldersOf(root)
    const living = known()
    if (!living) return
    const unknown = all.filter((uid) => !living.has(uid))
    for (const uid of unknown) {
      if ((isFirst || suspects.has(uid)) && !(await holdsState(root, uid))) await clear(root, uid)
    }
    suspects = new Set(unknown)
  }
}
