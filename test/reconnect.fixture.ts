// A client whose connection is cut again and again: it watches and asks, and says what that has cost it. Run with
// --expose-gc and a kubeconfig whose server cuts the connection when it is asked for the Namespace "cut".
import { getEventListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Namespace } from '../src/api/neighbours.ts'
import { createClient } from '../src/kube/client.ts'
import { findAccess } from '../src/kube/find.ts'

export interface Cost {
  readonly heap: readonly number[] // bytes in use after each tenth of the way
  readonly listeners: number // on a signal that all watches shared
  readonly warnings: readonly string[]
  readonly open: readonly string[] // what keeps the process alive, with the client open
  readonly left: readonly string[] // and after it was closed
}

const [kubeconfig = '', count = '0', protocol = 'h2'] = process.argv.slice(2)
const warnings: string[] = []
process.on('warning', ({ message }) => warnings.push(message))
const client = createClient(findAccess({ kubeconfig, env: {} }), {
  protocols: [protocol === 'h2' ? 'h2' : 'http/1.1'],
  perSecond: 1e6,
  burst: 1e6,
})
const { signal } = new AbortController()

// Until the watch has begun it asks what it is answered, then what gets it cut off.
async function reconnect(): Promise<void> {
  let events = 0
  try {
    for await (const _ of client.watch(Namespace, {}, signal)) {
      if (events++ > 0) continue
      await client.get(Namespace, { name: 'default' })
      await client.get(Namespace, { name: 'cut' }).catch(() => {})
    }
  } catch {
    if (events > 0) return
  }
  throw new Error('the watch was not cut')
}

// What a closed connection leaves goes a moment later.
async function settled(): Promise<void> {
  for (let round = 0; round < 3; round++) {
    await sleep(50)
    globalThis.gc?.()
  }
}

const heap: number[] = []
for (let tenth = 0; tenth < 10; tenth++) {
  for (let each = 0; each < Number(count) / 10; each++) await reconnect()
  await settled()
  heap.push(process.memoryUsage().heapUsed)
}
const open = process.getActiveResourcesInfo()
client.close()
await settled()
const cost: Cost = {
  heap,
  listeners: getEventListeners(signal, 'abort').length,
  warnings,
  open,
  left: process.getActiveResourcesInfo(),
}
process.stdout.write(JSON.stringify(cost), () => process.exit()) // whatever is left
