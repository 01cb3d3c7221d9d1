// The work folders of all Workspaces: furnished for a pass, and taken away with their Workspace.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { crossplane, type Workspace } from '../api/workspace.ts'
import type { Environment, Inputs } from './inputs.ts'
import type { Furnished, Ran, Terraform } from './terraform.ts'
import { clear, foldersOf, furnish, leftState, readCutOff, runNote } from './workfolder.ts'

export interface Folders {
  // Puts everything into the folder of the Workspace.
  furnish(workspace: Workspace, inputs: Inputs): Promise<Folder>
  remove(workspace: Workspace): Promise<void>
}

export interface Folder extends Furnished {
  readonly checksum: string // of all that is in it
  readonly isInitialised: boolean // for just that
  noteInitialised(): Promise<void>
  noteRun(startedAt: string): Promise<void>
  // What that run printed, when it was killed; empty: it never began, or it ended; undefined: it was in another folder.
  cutOff(startedAt: string): Promise<string | undefined>
  // The state that a command could not write to where it belongs, and which is nowhere else.
  leftState(): Promise<string | undefined>
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
      const note = join(folder.beside, runNote)
      return {
        ...folder,
        leftState: async () => readFile(join(folder.folder, leftState), 'utf8').catch(() => undefined),
        noteRun: async (startedAt) => writeFile(note, startedAt, { mode: 0o600 }),
        async cutOff(startedAt) {
          const noted = await readFile(note, 'utf8').catch(() => undefined)
          return noted === startedAt ? ((await readCutOff(root, uid)) ?? '') : undefined
        },
      }
    },
    remove: async ({ metadata: { uid = '' } }) => clear(root, uid),
  }
}

// Takes away the folders of Workspaces that are no more. One that was unknown only once may be of a Workspace that is new.
export function createSweep(root: string, known: () => ReadonlySet<string>): (isFirst: boolean) => Promise<void> {
  let suspects: ReadonlySet<string> = new Set()
  return async (isFirst) => {
    const all = await foldersOf(root)
    const living = known()
    const unknown = all.filter((uid) => !living.has(uid))
    for (const uid of unknown) if (isFirst || suspects.has(uid)) await clear(root, uid)
    suspects = new Set(unknown)
  }
}
