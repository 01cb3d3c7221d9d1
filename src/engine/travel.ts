// The Secret `<apply>-state`, with which clusterctl moves the state of an apply to another cluster: it is opened and filled here, and
// nothing else is known of moves. The manager makes that Secret; here it is only written to, and only where it is as it was read.
import { annotations } from '../api/keys.ts'
import { Secret } from '../api/neighbours.ts'
import { type Key, keyOf, readKey, tellKey, tellRef } from '../api/resource.ts'
import type { Client } from '../kube/client.ts'
import { isConflict, isRefused } from '../kube/errors.ts'
import { getIfThere } from '../kube/ifthere.ts'
import { stateSecretNameOf } from '../terraform/identity.ts'
import { bytesIn, type Luggage, luggageOn, packed } from '../terraform/luggage.ts'
import { readStateHead, type StateHead } from '../terraform/state.ts'
import { fitsOneSecret, type State, textOf } from '../terraform/statesecret.ts'
import { stateNameOf } from './claims.ts'
import type { LeftOut, Whose } from './records.ts'

export interface Opened {
  readonly luggage: Luggage | undefined // what is told on it; undefined: it was never packed
  readonly bytes: Buffer | undefined // the state of this very Workspace, gzipped
  readonly head: StateHead | undefined // of that, where it can be read
}

export interface Packing {
  readonly home: string
  readonly key: Key | undefined // of a state in this cluster; undefined: it is elsewhere, and needs not be moved
  readonly state: State | undefined // in this cluster
  readonly known: StateHead | undefined // as it was left here last
  // By whom it was applied, or found to be as it should; none: what the Secret says of that is as true as before.
  readonly proof?: Pick<Luggage, 'revision' | 'cli'>
}

export interface Travel {
  // Undefined: there is no such Secret.
  open(whose: Whose): Promise<Opened | undefined>
  pack(whose: Whose, packing: Packing): Promise<LeftOut>
  // That it may be moved, in the words by which that was asked for.
  answer(whose: Whose, asked: string): Promise<void>
  // All of it is destroyed: there is nothing left to be moved, or to be missed.
  clear(whose: Whose): Promise<LeftOut>
}

const how = { fieldManager: 'capt-engine' }

export function createTravel(client: Pick<Client, 'get' | 'patch'>): Travel {
  async function secretOf({ workspace }: Whose): Promise<Secret | undefined> {
    const apply = workspace.metadata.annotations?.[annotations.apply]
    if (apply === undefined) return undefined
    const { name, namespace: its } = readKey(apply)
    if (workspace.metadata.namespace !== undefined && workspace.metadata.namespace !== its) return undefined
    const key = { ...(its !== undefined && { namespace: its }), name: stateSecretNameOf({ name }) }
    const secret = await getIfThere(client, Secret, key)
    // Any other that has the name is none of our business.
    return secret?.metadata.annotations?.[annotations.apply] === apply ? secret : undefined
  }

  async function open(whose: Whose, secret: Secret): Promise<Opened> {
    const bytes = bytesIn(secret, identityOf(whose))
    return { luggage: luggageIn(secret), bytes, head: bytes && readStateHead(await textOf(bytes)) }
  }

  async function write(secret: Secret, change: { metadata?: object; data?: object }): Promise<void> {
    const { uid, resourceVersion } = secret.metadata
    const metadata = { ...change.metadata, uid, resourceVersion }
    await client.patch(Secret, keyOf(secret), { ...change, metadata }, how)
  }

  // Nobody needs it to go on; whoever wants to move it is told.
  async function forgiving(secret: Secret, act: () => Promise<LeftOut>): Promise<LeftOut> {
    try {
      return await act()
    } catch (error) {
      const which = tellRef(Secret, keyOf(secret))
      if (isConflict(error)) return `${which} was changed by somebody else just now: it is filled later`
      if (isRefused(error)) return `${which} cannot be written: ${error.message}`
      throw error
    }
  }

  async function fill(whose: Whose, secret: Secret, packing: Packing): Promise<LeftOut> {
    const { key, state, known } = packing
    if (key && typeof state?.head !== 'object') return undefined
    const there = await open(whose, secret)
    const which = tellRef(Secret, keyOf(secret))
    if (typeof state?.head === 'object' && isNewer(there.head, [state.head, known]))
      return `${which} holds a newer state (serial ${there.head?.serial}) than the one that is here (serial ${state.head.serial})`
    const isTooLarge = key !== undefined && state !== undefined && !fitsOneSecret(state.bytes)
    const bytes = isTooLarge ? undefined : state?.bytes
    const before = luggageOn(secret.metadata)
    const luggage = luggageFor(whose, packing, before, isTooLarge)
    const isSame =
      JSON.stringify(before) === JSON.stringify(luggage) &&
      (secret.data?.['tfstate'] ?? '') === (bytes?.toString('base64') ?? '')
    if (!isSame) await write(secret, packed(luggage, bytes))
    return isTooLarge ? `${which} has no room for its state: it cannot be moved` : undefined
  }

  return {
    async open(whose) {
      const secret = await secretOf(whose)
      return secret && open(whose, secret)
    },

    async pack(whose, packing) {
      const secret = await secretOf(whose)
      return secret && forgiving(secret, async () => fill(whose, secret, packing))
    },

    async answer(whose, asked) {
      const secret = await secretOf(whose)
      if (!secret || secret.metadata.annotations?.[annotations.moved] === asked) return
      await write(secret, { metadata: { annotations: { [annotations.moved]: asked } } })
    },

    async clear(whose) {
      const secret = await secretOf(whose)
      if (!secret || !luggageIn(secret)) return undefined
      const data = Object.fromEntries(Object.keys(secret.data ?? {}).map((each) => [each, null]))
      return forgiving(secret, async () => {
        await write(secret, { metadata: { annotations: { [annotations.state]: null } }, data })
        return undefined
      })
    },
  }
}

// One that was stripped of what is told on it still shows that it was packed.
function luggageIn({ metadata, data = {} }: Secret): Luggage | undefined {
  const backend = Buffer.from(data['backend'] ?? '', 'base64').toString()
  const stripped = { backend: backend === 'other' ? backend : 'kubernetes', group: '', externalName: '' } as const
  return luggageOn(metadata) ?? (backend === '' && !data['tfstate'] ? undefined : stripped)
}

function luggageFor(whose: Whose, packing: Packing, before: Luggage | undefined, isTooLarge: boolean): Luggage {
  const { home, key, state, proof } = packing
  const { uid, annotations: notes } = whose.workspace.metadata
  const { by, revision, cli } = !proof && before ? before : { by: uid, cli: notes?.[annotations.cli], ...proof }
  const { lineage, serial } = typeof state?.head === 'object' && !isTooLarge ? state.head : {}
  return {
    backend: key ? 'kubernetes' : 'other',
    ...identityOf(whose),
    ...(key ? { of: tellKey(key) } : { home }),
    ...(lineage !== undefined && { lineage }),
    ...(serial !== undefined && { serial }),
    ...(by !== undefined && { by }),
    ...(revision !== undefined && { revision }),
    ...(cli !== undefined && { cli }),
  }
}

// Of the same lineage, than all of these.
function isNewer(head: StateHead | undefined, others: readonly (StateHead | undefined)[]): boolean {
  const same = others.filter((each) => each?.lineage === head?.lineage)
  return head !== undefined && same.length > 0 && same.every((each) => each && each.serial < head.serial)
}

function identityOf({ api: { group }, workspace }: Whose) {
  return { group, externalName: stateNameOf(workspace) }
}
