// Something that works on an API server until it is struck at one of its acts: what it wanted to write is never sent, or is sent
// and never answered. From then on nothing it does has an effect; all it knew is gone, and another begins in its place. Or it is only
// hurt: the write is answered with a failure, whether it was done or not, and it lives on.

import { keyOf, type Resource, tellRef } from '../src/api/resource.ts'
import type { Client } from '../src/kube/client.ts'
import { ApiError, NotLeading } from '../src/kube/errors.ts'

export interface Blow {
  readonly at: number // which of its acts: 1 is the first
  readonly how: 'before' | 'after' | 'refused' | 'denied' // denied: it was done, and is called a failure
}

export interface Mortal {
  readonly acts: readonly string[] // of all its lives: "patch Workspace demo/apply (status)"
  struck(): string | undefined // which act
  end(): Promise<void>
}

// In one of its lives.
export interface Body {
  readonly client: Client
  // What it does to the world beside.
  act<T>(what: string, act: () => T | Promise<T>): Promise<T>
}

export interface Working {
  stop(): Promise<void>
}

export function startMortal(client: Client, blow: Blow | undefined, live: (body: Body) => Working): Mortal {
  const acts: string[] = []
  let struck: string | undefined
  let isEnded = false
  let ending = Promise.resolve()
  let life = begin()

  function begin(): Working {
    let isDead = false
    // As one who may not write any more: no pass takes that for news.
    const checkLife = () => {
      if (isDead) throw new NotLeading('it is dead')
    }
    const act = async <T>(what: string, send: () => T | Promise<T>): Promise<T> => {
      checkLife()
      acts.push(what)
      if (acts.length === blow?.at) {
        struck = what
        isDead = isDeadly(blow)
        if (blow.how === 'after' || blow.how === 'denied') await Promise.resolve(send()).catch(() => {})
        if (isDead) ending = replace()
        else throw new ApiError({ doing: what, code: 500, reason: 'InternalError', message: 'it was struck' })
      }
      checkLife()
      const answer = await send()
      checkLife()
      return answer
    }
    const ask = async <T>(send: () => Promise<T>): Promise<T> => {
      checkLife()
      const answer = await send()
      checkLife()
      return answer
    }
    return live({ client: clientOf(client, act, ask), act })
  }

  async function replace(): Promise<void> {
    await life.stop()
    if (!isEnded) life = begin()
  }

  return {
    acts,
    struck: () => struck,
    async end() {
      isEnded = true
      await ending
      await life.stop()
    },
  }
}

function isDeadly({ how }: Blow): boolean {
  return how === 'before' || how === 'after'
}

function clientOf(client: Client, act: Body['act'], ask: <T>(send: () => Promise<T>) => Promise<T>): Client {
  const tell = (verb: string, resource: Resource, key: Parameters<typeof tellRef>[1], subresource?: string) =>
    `${verb} ${tellRef(resource, key)}${subresource ? ` (${subresource})` : ''}`
  return {
    ...client,
    get: async (resource, key) => ask(async () => client.get(resource, key)),
    list: async (resource, scope) => ask(async () => client.list(resource, scope)),
    create: async (resource, object, how) =>
      act(tell('create', resource, keyOf(object)), async () => client.create(resource, object, how)),
    apply: async (resource, object, how) =>
      act(tell('apply', resource, keyOf(object), how.subresource), async () => client.apply(resource, object, how)),
    patch: async (resource, key, change, how) =>
      act(tell('patch', resource, key, how?.subresource), async () => client.patch(resource, key, change, how)),
    replaceStatus: async (resource, object, status, how) =>
      act(tell('patch', resource, keyOf(object), 'status'), async () =>
        client.replaceStatus(resource, object, status, how),
      ),
    remove: async (resource, key, how) =>
      act(tell('delete', resource, key), async () => client.remove(resource, key, how)),
  }
}
