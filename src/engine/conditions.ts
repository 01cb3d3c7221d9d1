// The conditions of a Workspace, in Crossplane's words and form. Pure.
import { type Said, vocabulary, type Words } from '../api/condition.ts'
import type { WorkspaceCondition } from '../api/workspace.ts'

// In the order in which they are written.
const words = {
  Ready: { Available: 'True', Creating: 'False', Deleting: 'False' },
  Synced: { ReconcileSuccess: 'True', ReconcileError: 'False', ReconcilePaused: 'False' },
  UpToDate: { ObserveMatched: 'True', UpdateRestricted: 'False', UpdateFailed: 'False' },
} as const satisfies Words

export const say = vocabulary(words)

// What is not said stays as it was. One that says the same as before is the same to the letter, time included.
export function tellWorkspaceConditions(
  before: readonly WorkspaceCondition[],
  said: readonly Said[],
  { generation, now }: { readonly generation: number; readonly now: string },
): readonly WorkspaceCondition[] {
  const told = said.map(({ type, status, reason, message }): WorkspaceCondition => {
    const last = before.find((each) => each.type === type)
    return {
      type,
      status,
      reason,
      ...(message !== '' && { message }),
      // Crossplane's own writes none there, and readers have come to know it so.
      ...(reason !== 'Available' && { observedGeneration: generation }),
      lastTransitionTime: last?.status === status ? last.lastTransitionTime : now,
    }
  })
  const others = before.filter((each) => !told.some(({ type }) => type === each.type))
  const order: readonly string[] = Object.keys(words)
  const place = ({ type }: WorkspaceCondition) => (order.includes(type) ? order.indexOf(type) : order.length)
  return [...told, ...others].toSorted((a, b) => place(a) - place(b))
}
