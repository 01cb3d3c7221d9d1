// Where Terraform keeps the state of a Workspace, as its ProviderConfig and its module say it: outside of the cluster, where another
// cluster finds it, or bound to this one, as far as is known. For where Crossplane runs Terraform: our engine knows. Pure.
import type { ForProvider, ProviderConfig } from '../api/workspace.ts'
import { type StateBlock, stateBlockOf } from './module.ts'

export type StateHome =
  | { readonly is: 'elsewhere'; readonly place: string } // as people are told, and to be compared
  | { readonly is: 'bound'; readonly why: string } // a sentence that goes on from "its state"

export function stateHomeOf({ kind, metadata, spec }: ProviderConfig, module: ForProvider): StateHome {
  const { configuration = '', backendFile = '' } = spec
  const block = stateBlockOf(configuration) ?? ownBlockOf(module)
  const config = `${kind} ${metadata.name}`
  if (block?.kind === 'kubernetes')
    return bound('is in a Secret of a cluster (backend "kubernetes"), which Crossplane does not take along')
  if (block?.kind === 'local') return bound('is in the pod that runs Terraform (backend "local")')
  if (block) return { is: 'elsewhere', place: placeOf(block, backendFile, module) }
  return module.source === 'Inline'
    ? bound(`is in the pod that runs Terraform, for ${config} names no backend`)
    : bound(`may be anywhere, for ${config} names no backend, and the module is not known here`)
}

function bound(why: string): StateHome {
  return { is: 'bound', why }
}

function ownBlockOf({ source, module, inlineFormat }: ForProvider): StateBlock | undefined {
  return source === 'Inline' ? stateBlockOf(module, inlineFormat) : undefined
}

// Which settings say where, and not by which way or as whom: those may differ from cluster to cluster, and may be secret.
const whereabouts = [
  'bucket',
  'container_name',
  'key',
  'organization',
  'path',
  'prefix',
  'schema_name',
  'storage_account_name',
  'workspace_key_prefix',
] as const

// The last word counts: what the command line says, then the file, then the block.
function placeOf({ kind, settings }: StateBlock, backendFile: string, { initArgs = [] }: ForProvider): string {
  const file = stateBlockOf(`terraform {\nbackend "${kind}" {\n${backendFile}\n}\n}\n`)?.settings.given ?? {}
  const added = initArgs.flatMap((each) => {
    const { name, value } = /^--?backend-config=(?<name>\w+)=(?<value>.*)$/s.exec(each)?.groups ?? {}
    return name === undefined ? [] : [[name, value ?? ''] as const]
  })
  const given: Readonly<Record<string, string>> = { ...settings.given, ...file, ...Object.fromEntries(added) }
  const told = whereabouts.flatMap((name) => (given[name] === undefined ? [] : [`${name} ${unquoted(given[name])}`]))
  return told.length === 0 ? kind : `${kind} (${told.join(', ')})`
}

function unquoted(text: string): string {
  return text.replace(/^"(?<inner>.*)"$/s, '$<inner>')
}
