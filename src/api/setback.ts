// What an object says of itself when its plan could not be carried out. Pure.
import { type Condition, everywhere, type Said, type Words } from './condition.ts'

export interface Setback {
  readonly words: Words // of the kind
  readonly said: readonly Said[] // what the plan would say
  readonly before: readonly Condition[]
  readonly why: string | undefined // undefined: it passes by itself, and is no news
}

// Nothing that rests on the plan, be it a promise or what would be newly true. And why, where people look: on `Ready`, in place of each
// promise, and on `Available`, which is all that Cluster API shows of a control plane. What is available stays so.
export function saidDespite({ words, said, before, why }: Setback): readonly Said[] {
  const isSo = ({ type }: Said) => before.some((each) => each.type === type && each.status === 'True')
  const kept = said.filter((each) => !each.isPromise && (each.status !== 'True' || isSo(each)))
  if (why === undefined) return kept
  const failed = (type: string): Said => ({
    type,
    status: everywhere.WriteFailed,
    reason: 'WriteFailed',
    message: why,
  })
  const promised = said.filter(({ isPromise }) => isPromise).map(({ type }) => failed(type))
  const isShown = mirrored in words && said.some(({ type }) => type === mirrored)
  const standing = kept.find(({ type, status }) => type === mirrored && status === 'True')
  const shown = standing ? { ...standing, message: why } : failed(mirrored)
  return [...kept, ...promised, failed('Ready'), ...(isShown ? [shown] : [])]
}

const mirrored = 'Available'
