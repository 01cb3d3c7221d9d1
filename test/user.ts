// The user of an apply: waits until it is ready, and approves what is asked on the way, as the message says how.
import { annotations } from '../src/api/keys.ts'
import { type Key, type Resource, tellRef } from '../src/api/resource.ts'
import { WorkspaceTemplateApply } from '../src/api/workspacetemplateapply.ts'
import type { Client } from '../src/kube/client.ts'
import { isNotFound } from '../src/kube/errors.ts'
import { type Patience, until } from './until.ts'

export interface User {
  readonly asked: readonly string[] // because of what, in order
  answers(key: Key, apply: WorkspaceTemplateApply): Promise<void> // approves what it asks for, if anything
  seesReady(apply: Key, isSo: (apply: WorkspaceTemplateApply) => boolean): Promise<void>
  seesGone(resource: Resource, key: Key): Promise<void>
}

// `looks` is what is done before an approval.
export function aUser(client: Client, patience: Patience, looks: (reason: string) => void = () => {}): User {
  const asked: string[] = []

  async function answers(key: Key, { metadata, status }: WorkspaceTemplateApply): Promise<void> {
    const applied = status?.conditions?.find(({ type }) => type === 'Applied')
    const id = /approve=(\w+)/.exec(applied?.message ?? '')?.[1]
    if (!applied || id === undefined || metadata.annotations?.[annotations.approve] === id) return
    asked.push(applied.reason)
    looks(applied.reason)
    await client.patch(WorkspaceTemplateApply, key, { metadata: { annotations: { [annotations.approve]: id } } })
  }

  return {
    asked,
    answers,
    async seesReady(key, isSo) {
      let last: WorkspaceTemplateApply | undefined
      const look = async () => {
        last = await client.get(WorkspaceTemplateApply, key)
        await answers(key, last)
        const ready = last.status?.conditions?.find(({ type }) => type === 'Ready')
        const isReady = ready?.status === 'True' && ready.observedGeneration === last.metadata.generation
        return isReady && isSo(last) ? true : undefined
      }
      try {
        await until(`${tellRef(WorkspaceTemplateApply, key)} is ready`, look, patience)
      } catch (error) {
        throw new Error(`${String(error)}\nseen last: ${JSON.stringify(last?.status, undefined, 1)}`, { cause: error })
      }
    },
    async seesGone(resource, key) {
      const look = async () =>
        client.get(resource, key).then(
          () => undefined,
          (error: unknown) => (isNotFound(error, key.name) ? true : undefined),
        )
      await until(`${tellRef(resource, key)} is gone`, look, patience)
    },
  }
}
