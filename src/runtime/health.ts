// /healthz and /readyz for the kubelet, and the rules behind them. A check looks at what is known; it asks nobody.
import { createServer } from 'node:http'
import type { Address } from './address.ts'
import { type Log, tellError } from './log.ts'
import { answer, bounds, type Serving, serve } from './serving.ts'

// Undefined: all is well. Otherwise a sentence.
export type Check = () => string | undefined
export type Checks = Readonly<Record<string, Check>>

export interface HealthOptions {
  readonly address: Address
  readonly healthz: Checks // failing, the process is to be restarted
  readonly readyz: Checks
  readonly log: Log
}

export async function startHealth({ address, healthz, readyz, log }: HealthOptions): Promise<Serving> {
  const pages = new Map<string, Checks>([
    ['healthz', healthz],
    ['readyz', readyz],
  ])
  const told = new Map<string, string>()
  const server = createServer(bounds, (request, response) => {
    const [path = '', query] = (request.url ?? '').split('?')
    const page = path.slice(1)
    const checks = pages.get(page)
    if (!checks) return answer(response, 404, 'there is no such page\n')
    const found = Object.entries(checks).map(([name, check]) => [name, outcomeOf(check)] as const)
    const failing = found.filter(([, why]) => why !== undefined)
    const names = failing.map(([name]) => name).join(', ')
    if (names !== (told.get(page) ?? '')) {
      if (names) log.warn('a probe fails', { probe: page, failing: Object.fromEntries(failing) })
      else log.info('a probe passes again', { probe: page })
      told.set(page, names)
    }
    const lines = found.map(([name, why]) => (why === undefined ? `[+]${name} ok\n` : `[-]${name} failed: ${why}\n`))
    if (names) return answer(response, 503, `${lines.join('')}${page} check failed\n`)
    answer(response, 200, new URLSearchParams(query).has('verbose') ? `${lines.join('')}${page} check passed\n` : 'ok')
  })
  return serve(server, address, log)
}

function outcomeOf(check: Check): string | undefined {
  try {
    return check()
  } catch (error) {
    return tellError(error)
  }
}

// Something that has lasted: the silence of a watch, a worker on a key.
export interface Lasting {
  readonly what: string
  readonly seconds: number
}

// A watch that hears nothing while the API server answers is stuck, and a restart helps. An API server that is away is no
// reason to restart.
export function watchesMove(
  silences: () => readonly Lasting[],
  isAnswering: () => boolean,
  boundSeconds: number,
): Check {
  return () => (isAnswering() ? tooLong('has heard nothing', silences(), boundSeconds) : undefined)
}

export function workersMove(running: () => readonly Lasting[], boundSeconds: number): Check {
  return () => tooLong('has been worked on', running(), boundSeconds)
}

function tooLong(does: string, all: readonly Lasting[], boundSeconds: number): string | undefined {
  const stuck = all.filter(({ seconds }) => seconds > boundSeconds).toSorted((a, b) => b.seconds - a.seconds)
  const [worst] = stuck
  if (!worst) return undefined
  const others = stuck.length > 1 ? `, and ${stuck.length - 1} more` : ''
  return `${worst.what} ${does} for ${Math.round(worst.seconds)} s, longer than ${boundSeconds} s${others}`
}
