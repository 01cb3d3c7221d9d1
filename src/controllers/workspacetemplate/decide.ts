// What is to be said of a WorkspaceTemplate: whether it can work, its revision, who uses it. No I/O, no clock, no memory.
import { type Condition, type Said, vocabulary, wasSaid } from '../../api/condition.ts'
import { WorkspaceTemplate } from '../../api/workspacetemplate.ts'
import { type Effect, idle, type Plan, stageOf } from '../../runtime/plan.ts'
import { complaintsOf, revisionOf } from '../../terraform/template.ts'

export interface Seen {
  readonly template: WorkspaceTemplate
  readonly users: readonly string[] // the applies that name it, as people write them
}

const say = vocabulary(WorkspaceTemplate.words)
const namesTold = 10
const oldFinalizer = 'workspacetemplate.v2.infrastructure.cluster.x-k8s.io'

export function decide({ template, users }: Seen): Plan {
  // It has no finalizer: a policy keeps one in use from being deleted, and nothing is left behind by one that goes. The predecessor
  // gave it one, which nobody else takes off.
  const isHeld = template.metadata.finalizers?.includes(oldFinalizer)
  const free: readonly Effect[] = isHeld ? [{ do: 'removeFinalizer', finalizer: oldFinalizer, onceGone: [] }] : []
  const stage = stageOf({ object: template })
  if (stage === 'leaving') return { ...idle, effects: free }
  if (stage !== 'live') return idle
  const ready = judged(template)
  return {
    effects: [...free, ...news(ready, template.status?.conditions)],
    conditions: [ready],
    status: {
      revision: revisionOf(template),
      users: { count: users.length, names: users.toSorted().slice(0, namesTold) },
    },
    wake: 'onChange',
  }
}

function judged(template: WorkspaceTemplate): Said {
  const complaints = complaintsOf(template)
  const [first] = complaints
  if (!first) return say('Ready', 'Valid')
  return say('Ready', first.reason, complaints.map(({ message }) => message).join('; '))
}

// An event when it is found wanting, once for each complaint.
function news(ready: Said, before: readonly Condition[] | undefined): readonly Effect[] {
  if (ready.status === 'True' || wasSaid(ready, before)) return []
  return [{ do: 'tell', type: 'Warning', reason: ready.reason, note: ready.message }]
}
