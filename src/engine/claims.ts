// Whose a state is. Crossplane names a state after its Workspace alone, and all namespaces share a backend: two Workspaces of
// one name would undo, and in the end destroy, each other's work. So the younger one is refused. Only the cache is read.
import { hashOf } from '../api/canonical.ts'
import { keyOf, tellKey } from '../api/resource.ts'
import { crossplane, type Workspace, type WorkspaceAPI } from '../api/workspace.ts'
import type { Read } from '../runtime/cache.ts'
import { stateBlockOf } from '../terraform/module.ts'
import { configKeyOf } from '../terraform/providerconfig.ts'
import { type Inputs, ownFiles } from './inputs.ts'

// Of Workspaces in the cache: by the name of their state.
export const stateIndex = 'state'

export function stateNameOf({ metadata }: Pick<Workspace, 'metadata'>): string {
  return metadata.annotations?.[crossplane.externalName] ?? metadata.name
}

export interface Claims {
  // Why the state that a run would use is not this Workspace's, as a sentence.
  objection(workspace: Workspace, inputs: Inputs): string | undefined
}

export function createClaims(read: Pick<Read, 'get' | 'byIndex'>, apis: readonly WorkspaceAPI[]): Claims {
  function backendOf(api: WorkspaceAPI, workspace: Workspace): string | undefined {
    const { resource, key } = configKeyOf(api, workspace)
    const config = resource && read.get(resource, key)
    return config && placeOf(config.spec, workspace)
  }

  return {
    objection(workspace, { files }) {
      const said = { configuration: files[ownFiles.configuration], backendFile: files[ownFiles.backend] }
      const place = placeOf(said, workspace)
      if (place === undefined) return undefined
      const name = stateNameOf(workspace)
      for (const other of apis) {
        const older = read
          .byIndex(other.workspace, stateIndex, name)
          .find((each) => isOlder(each, workspace) && backendOf(other, each) === place)
        if (!older) continue
        const whose = `${older.kind} ${tellKey(keyOf(older))}`
        return `the state ${name} is already used by ${whose}: set another ${crossplane.externalName}`
      }
      return undefined
    },
  }
}

interface Said {
  readonly configuration?: string | undefined
  readonly backendFile?: string | undefined
}

// Where states are, as far as a ProviderConfig says it; undefined: a module says it itself, or it is in the work folder. What a
// Workspace adds on its own it means: this is to keep people from an accident, code in a module can reach any state.
function placeOf({ configuration = '', backendFile }: Said, { spec }: Workspace): string | undefined {
  const block = stateBlockOf(configuration)
  if (block?.kind === 'local' || (!block && backendFile === undefined)) return undefined
  const added = (spec.forProvider.initArgs ?? []).filter((each) => /^--?backend-config/.test(each))
  return hashOf([block, backendFile, added])
}

// One that was deleted by hand and made again may still be there in the cache: it is not another.
function isOlder(a: Workspace, b: Workspace): boolean {
  const isSame = a.apiVersion === b.apiVersion && tellKey(keyOf(a)) === tellKey(keyOf(b))
  return !isSame && ageOf(a) < ageOf(b)
}

// Of two that were made within one second, whoever was served first: it has our finalizer.
function ageOf({ metadata: { creationTimestamp = '', finalizers = [], uid = '' } }: Workspace): string {
  return `${creationTimestamp} ${finalizers.includes(crossplane.finalizer) ? 'served' : 'waiting'} ${uid}`
}
