// The Secret `<apply>-state` of an apply that came back without its Workspace: the manager makes that Workspace only where a state came along,
// so a state that is restored is put in there, too. What is in it is replaced only where it is this apply's and no newer, and is copied before.
import { annotations, labels } from '../api/keys.ts'
import { Secret } from '../api/neighbours.ts'
import { isWithin } from '../api/record.ts'
import { type Key, keyOf, tellKey, tellObject } from '../api/resource.ts'
import type { Client } from '../kube/client.ts'
import { isAlreadyThere, isConflict } from '../kube/errors.ts'
import { applyLabelOf, stateSecretNameOf } from '../terraform/identity.ts'
import { type Luggage, luggageOn, packed } from '../terraform/luggage.ts'
import type { StateHead } from '../terraform/state.ts'
import { readState, type State } from '../terraform/statesecret.ts'
import { workspaceRefOf } from '../view/situation.ts'
import { Complaint } from './complaint.ts'
import type { Asked, States } from './statefind.ts'
import { type Keeping, keep } from './statekeep.ts'

export interface Carrying extends Keeping {
  readonly client: Pick<Client, 'get' | 'list' | 'create' | 'apply' | 'patch'>
  readonly isForced: boolean // another lineage is meant
}

interface Readable extends Pick<State, 'bytes' | 'text'> {
  readonly head: StateHead
}

const how = { fieldManager: 'capt-cli' }

// What travels with the apply: as it is, else as is told of it. Undefined: nobody knows.
export async function carriedBy(
  asked: Asked,
  { carrier }: States,
): Promise<Pick<StateHead, 'lineage' | 'serial'> | undefined> {
  if (!carrier || isAnothers(asked, carrier)) return undefined
  const { head } = await stateIn(carrier)
  if (typeof head === 'object') return head
  const { lineage, serial } = luggageOn(carrier.metadata) ?? {}
  return lineage === undefined || serial === undefined ? undefined : { lineage, serial }
}

// To be asked before anything is written: it complains where the state cannot be put there.
export async function seeCarriable(asked: Carrying, { carrier, workspace }: States, lineage: string): Promise<void> {
  if (workspace || !carrier) return
  if (isAnothers(asked, carrier)) {
    const whose = carrier.metadata.annotations?.[annotations.apply]
    const is = whose === undefined ? 'holds something else' : `is of the apply ${whose}`
    throw new Complaint(`${tellObject(carrier)}, which is to hold the state as well, ${is}: remove it, and try again`)
  }
  const { head } = await stateIn(carrier)
  if (asked.isForced || typeof head !== 'object' || head.isEmpty || head.lineage === lineage) return
  const why = `holds a state of another lineage (${head.lineage}, and what is restored is of ${lineage})`
  throw new Complaint(`${tellObject(carrier)} ${why}: with --force it is replaced nevertheless`)
}

export async function carry(asked: Carrying, states: States, key: Key, restored: Readable): Promise<void> {
  const { apply, carrier, workspace, externalName } = states
  const { group } = (apply && workspaceRefOf(apply)) ?? {}
  if (workspace || group === undefined) return
  const there = carrier && (await stateIn(carrier))
  const isNewest = there !== undefined && isReadable(there) && isNewer(there.head, restored.head)
  const state = isNewest ? there : restored
  const { lineage, serial } = state.head
  const luggage = { backend: 'kubernetes', group, externalName, of: tellKey(key), lineage, serial } as const
  if (carrier && there?.text === state.text && isTold(asked, carrier, luggage)) return
  if (there && there.text !== state.text) await keep(asked, states, there, key)
  const wanted = filled(asked, luggage, state.bytes)
  await write(asked, carrier, wanted)
  asked.say(`brought    serial ${serial} is in ${tellObject(wanted)}, too`)
}

// As it was read, or not at all.
async function write({ client }: Carrying, carrier: Secret | undefined, wanted: Secret): Promise<void> {
  const { uid, resourceVersion } = carrier?.metadata ?? {}
  try {
    if (!carrier) return void (await client.create(Secret, wanted, how))
    const metadata = { ...wanted.metadata, uid, resourceVersion }
    await client.patch(Secret, keyOf(carrier), { metadata, data: wanted.data }, how)
  } catch (error) {
    if (!isConflict(error) && !isAlreadyThere(error)) throw error
    const why = `${tellObject(wanted)} has changed meanwhile, or cannot be read by you`
    throw new Complaint(`the state is restored, but ${why}: try again`, { cause: error })
  }
}

function filled({ namespace, name }: Asked, luggage: Luggage, bytes: Buffer): Secret {
  const { metadata, data } = packed(luggage, bytes)
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      namespace,
      name: stateSecretNameOf({ name }),
      labels: { [labels.apply]: applyLabelOf({ namespace, name }) },
      annotations: { ...metadata.annotations, [annotations.apply]: tellKey({ namespace, name }) },
    },
    data: Object.fromEntries(Object.entries(data).filter((each): each is [string, string] => each[1] !== null)),
  }
}

async function stateIn(carrier: Secret): Promise<State> {
  const key = keyOf(carrier)
  return readState(async ({ name }) => (name === key.name ? carrier : undefined), key)
}

// One that was stripped of whose it is holds nothing but what we put there.
function isAnothers({ namespace, name }: Asked, { metadata, data = {} }: Secret): boolean {
  const whose = metadata.annotations?.[annotations.apply]
  return whose === undefined
    ? Object.keys(data).some((each) => each !== 'backend' && each !== 'tfstate')
    : whose !== tellKey({ namespace, name })
}

// All that is to be told of it is, and perhaps more, such as who has applied it.
function isTold({ namespace, name }: Asked, { metadata }: Secret, luggage: Luggage): boolean {
  const isMarked = metadata.annotations?.[annotations.apply] === tellKey({ namespace, name })
  return isMarked && isWithin(luggage, luggageOn(metadata))
}

function isReadable(state: State): state is State & Readable {
  return typeof state.head === 'object'
}

function isNewer(head: StateHead, than: StateHead): boolean {
  return head.lineage === than.lineage && head.serial > than.serial
}
