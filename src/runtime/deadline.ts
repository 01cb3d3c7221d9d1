// Waits for an answer, but not for ever. What was asked is not called off: it may still happen, and its late answer is
// dropped.
import type { Clock } from './clock.ts'

export async function within<T>(clock: Clock, ms: number, doing: string, answer: Promise<T>): Promise<T> {
  let callOff = () => {}
  const silence = new Promise<never>((_, reject) => {
    const giveUp = () => reject(new Error(`cannot ${doing}: no answer within ${ms / 1000} s`))
    callOff = clock.wakeAt(clock.now() + ms, giveUp)
  })
  try {
    return await Promise.race([answer, silence])
  } finally {
    callOff()
  }
}
