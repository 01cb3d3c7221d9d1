// Kills (SIGKILL) of a real process, drawn from a seed: each falls so many writes after its start, and the process is started anew.
import { open } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import type { ManagerProcess } from './bed/manager.ts'
import { until } from './until.ts'

// When it falls: so many writes after its start, and so much later.
export interface Blow {
  readonly writes: number
  readonly ms: number
  readonly isWhole: boolean // all that the process runs dies with it, as in a container
}

export const anyBlows = (count: number, writes = { min: 1, max: 12 }): fc.Arbitrary<Blow[]> =>
  fc.array(fc.record({ writes: fc.integer(writes), ms: fc.nat(600), isWhole: fc.boolean() }), {
    minLength: count,
    maxLength: count,
  })

export interface Victim {
  readonly name: string
  readonly writes: () => Promise<number> // since it was asked last
  launch(name: string): Promise<ManagerProcess>
  falls(blow: Blow): void // told after each
}

export async function dealBlows(blows: readonly Blow[], { name, writes, launch, falls }: Victim): Promise<void> {
  let living = await launch(name)
  for (const [index, blow] of blows.entries()) {
    await writes() // what was before
    let seen = 0
    // Who has nothing to write is killed all the same.
    const look = async () => ((seen += await writes()) >= blow.writes ? true : undefined)
    await until(`${name} writes`, look, { withinSeconds: 10, everyMs: 20, giveUp: living.member.obituary }).catch(
      (error: unknown) => {
        const died = living.member.obituary()
        if (died !== undefined) throw new Error(died, { cause: error })
      },
    )
    await sleep(blow.ms)
    await living.member.kill('SIGKILL')
    falls(blow)
    living = await launch(`${name}-${index + 2}`)
  }
}

// How many writes a user has made since it was asked last, by what the API server wrote down: anywhere, or in a namespace.
export function writesOf(auditLog: string, user: string, namespace?: string): () => Promise<number> {
  let at = 0
  return async () => {
    await using file = await open(auditLog)
    const { size } = await file.stat()
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size - at), 0, size - at, at)
    const text = buffer.toString('utf8', 0, bytesRead)
    const whole = text.slice(0, text.lastIndexOf('\n') + 1)
    at += Buffer.byteLength(whole)
    return whole
      .split('\n')
      .filter((line) => line.includes(`"username":"${user}"`) && /"verb":"(create|patch|update|delete)"/.test(line))
      .filter((line) => namespace === undefined || line.includes(`"namespace":"${namespace}"`)).length
  }
}
