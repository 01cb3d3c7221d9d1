// Finds what there is of an apply's Terraform state: the state itself, and the copies that the engine keeps of it. It reads
// Secrets as whoever calls it, and writes nothing.
import { annotations, labels } from '../api/keys.ts'
import { Secret } from '../api/neighbours.ts'
import { type Key, readKey, tellKey, tellRef } from '../api/resource.ts'
import { crossplane, type Workspace, workspaceAPIs } from '../api/workspace.ts'
import { WorkspaceTemplateApply } from '../api/workspacetemplateapply.ts'
import type { Client } from '../kube/client.ts'
import { isRefused } from '../kube/errors.ts'
import { getIfThere } from '../kube/ifthere.ts'
import { applyLabelOf, externalNameOf, stateSecretNameOf } from '../terraform/identity.ts'
import { openCopy, readCopies, type StateCopy } from '../terraform/statecopy.ts'
import { readState, type State, stateNamespace, textOf } from '../terraform/statesecret.ts'
import { workspaceRefOf } from '../view/situation.ts'
import { Complaint } from './complaint.ts'

export interface Asked {
  readonly client: Pick<Client, 'get' | 'list'>
  readonly namespace: string
  readonly name: string // of the apply
}

export interface States {
  readonly apply: WorkspaceTemplateApply | undefined // it may be gone, and its state be kept
  readonly workspace: Workspace | undefined
  readonly externalName: string // Terraform's workspace
  readonly copies: readonly StateCopy[] // the newest first
  readonly key: Key | undefined // of the state, as its copies say
  readonly carrier: Secret | undefined // <apply>-state, in which the state travels with its apply
}

export async function findStates({ client, namespace, name }: Asked): Promise<States> {
  const apply = await getIfThere(client, WorkspaceTemplateApply, { namespace, name })
  const ref = apply && workspaceRefOf(apply)
  const api = ref && workspaceAPIs[ref.group]
  const key = ref && api && (api.isNamespaced ? { namespace, name: ref.name } : { name: ref.name })
  const workspace = key && (await getIfThere(client, api.workspace, key))
  const all = readCopies(await copySecrets({ client, namespace, name }, { metadataOnly: true }))
  const copies = all.filter(({ id }, at) => all.findIndex((each) => each.id === id) === at) // one may be kept twice
  const of = copies.find((each) => each.of !== undefined)?.of
  return {
    apply,
    workspace,
    externalName:
      workspace?.metadata.annotations?.[crossplane.externalName] ??
      apply?.metadata.annotations?.[annotations.externalName] ??
      externalNameOf({ namespace, name }),
    copies,
    key: of === undefined ? undefined : readKey(of),
    carrier: await carrierOf({ client, namespace, name }),
  }
}

// Whoever may read the copies need not be allowed to read what is beside the apply.
async function carrierOf({ client, namespace, name }: Asked): Promise<Secret | undefined> {
  try {
    return await getIfThere(client, Secret, { namespace, name: stateSecretNameOf({ name }) })
  } catch (error) {
    if (isRefused(error)) return undefined
    throw error
  }
}

async function copySecrets({ client, namespace, name }: Asked, how: { metadataOnly?: true } = {}) {
  const selector = `${labels.record}=state,${labels.apply}=${applyLabelOf({ namespace, name })}`
  return (await client.list(Secret, { namespace: stateNamespace, labels: selector, ...how })).items
}

export async function stateNow({ client }: Pick<Asked, 'client'>, key: Key): Promise<State> {
  return readState(async (part) => getIfThere(client, Secret, part), key)
}

// As a list names it: by its id or how that begins, or `latest`.
export function chosen({ copies }: States, at: string, { namespace, name }: Asked): StateCopy {
  const list = `capt state list ${name} --namespace ${namespace}`
  if (copies.length === 0) throw new Complaint(`there is no copy of the state of ${tellKey({ namespace, name })}`)
  const fitting = at === 'latest' ? copies.slice(0, 1) : copies.filter(({ id }) => at !== '' && id.startsWith(at))
  const [copy, another] = fitting
  if (!copy) throw new Complaint(`there is no copy ${at} of the state: see ${list}`)
  if (another) throw new Complaint(`more than one copy begins with ${at}: see ${list}`)
  return copy
}

export async function textOfCopy(asked: Asked, copy: StateCopy): Promise<string> {
  const bytes = openCopy(await copySecrets(asked), copy)
  const text = bytes && (await textOf(bytes))
  if (!text) throw new Complaint(`the copy ${copy.id} is damaged: choose another one`)
  return text
}

export function tellApply({ namespace, name }: Asked): string {
  return tellRef(WorkspaceTemplateApply, { namespace, name })
}
