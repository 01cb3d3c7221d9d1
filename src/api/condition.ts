// Conditions: what an object says of itself, in the form all of Kubernetes uses, from a closed vocabulary per kind.
import type * as z from 'zod'
import { integer, listBy, object, oneOf, text } from './schema.ts'
import { shortened } from './text.ts'

const condition = () =>
  object({
    type: text({
      min: 1,
      max: 316,
      matches: { pattern: '^[A-Za-z0-9][A-Za-z0-9_./-]*$', message: 'a condition type is a word such as Ready' },
    }).describe('What the condition is about, for example Ready.'),
    status: oneOf('True', 'False', 'Unknown').describe('Whether it is so.'),
    observedGeneration: integer({ min: 0, max: Number.MAX_SAFE_INTEGER })
      .optional()
      .describe(
        'The metadata.generation that this was said of. When it is smaller than the present one, it is old news.',
      ),
    lastTransitionTime: text({ max: 64 })
      .meta({ format: 'date-time' })
      .describe('When the status last changed from one value to another.'),
    reason: text({
      min: 1,
      max: 1024,
      matches: {
        pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$',
        message: 'a reason is a word such as Provisioned',
      },
    }).describe('Why it is so, in one word that programs may rely on.'),
    message: text({ max: 32768 }).describe(
      'Why it is so, and what to do about it, for people. Empty when there is nothing to add.',
    ),
  })

export type Condition = z.output<ReturnType<typeof condition>>

export const conditions = () =>
  listBy(['type'], condition(), { max: 32 })
    .optional()
    .describe('What is so and what is not, and why. `kubectl wait --for=condition=Ready` waits for one of them.')

// Which conditions a kind has, and the reasons each may have. A reason carries its status, so that "True, because it
// failed" cannot be written.
export type Words = Readonly<Record<string, Readonly<Record<string, Condition['status']>>>>

export type Said = Pick<Condition, 'type' | 'status' | 'reason' | 'message'> & {
  readonly isPromise?: true // it is so when the plan is carried out: said only then
}

// Of what is not seen yet, but done in the same pass.
export function promise(said: Said): Said {
  return { ...said, isPromise: true }
}

// What a kind can say: only its own conditions, each only for its own reasons.
export function vocabulary<W extends Words>(words: W) {
  return <Type extends keyof W & string>(type: Type, reason: keyof W[Type] & string, message = ''): Said => ({
    type,
    status: words[type]?.[reason] ?? 'Unknown',
    reason,
    message,
  })
}

// Words that mean the same on every kind, as Cluster API spells them.
export const shared = {
  Paused: { Paused: 'True', NotPaused: 'False' },
  Deleting: { Deleting: 'True', DeletionCompleted: 'True', NotDeleting: 'False' },
} as const satisfies Words

// Words that the shell around every controller may say of any condition.
export const everywhere = { NotYetKnown: 'Unknown', WriteFailed: 'Unknown' } as const

export interface Telling {
  readonly words: Words // of the kind
  readonly said: readonly Said[] // of two about one type the later counts
  readonly others?: 'stay' | undefined // conditions of the kind that are not said; else they become Unknown
  readonly generation: number
  readonly now: string
}

// Nobody reads on, and one that the API server refuses would keep all of them from being told.
const longestMessage = 4096

// Whether an object says just this already: then it is no news.
export function wasSaid({ type, reason, message }: Said, before: readonly Condition[] = []): boolean {
  const told = shortened(message, longestMessage)
  return before.some((each) => each.type === type && each.reason === reason && each.message === told)
}

// The conditions an object is to have. One that says the same as before is the same to the letter, time included.
export function tellConditions(
  before: readonly Condition[],
  { words, said, others, generation, now }: Telling,
): readonly Condition[] {
  const all = new Map<string, Said>(others === 'stay' ? before.map((each) => [each.type, each]) : [])
  if (others !== 'stay') {
    for (const type of Object.keys(words)) {
      all.set(type, { type, status: everywhere.NotYetKnown, reason: 'NotYetKnown', message: '' })
    }
  }
  const stays = new Set(all.keys())
  for (const each of said) {
    all.set(each.type, each)
    stays.delete(each.type)
  }
  return [...all.values()].map(({ type, status, reason, message }) => {
    const old = before.find((each) => each.type === type)
    if (old && others === 'stay' && stays.has(type)) return old
    const lastTransitionTime = old?.status === status ? old.lastTransitionTime : now
    const told = shortened(message, longestMessage)
    return { type, status, reason, message: told, observedGeneration: generation, lastTransitionTime }
  })
}
