// A connection that is cut again and again costs nothing that stays: no memory, no socket, no timer, no listener. The client
// is a process of its own, so that nobody else's memory is measured.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import http2 from 'node:http2'
import type { AddressInfo, Socket } from 'node:net'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { anAuthority } from '../../test/bed/certificates.ts'
import { startFaultProxy } from '../../test/bed/faults/proxy.ts'
import { kubeconfig, type Reach } from '../../test/bed/kubeconfig.ts'
import { privateFile } from '../../test/bed/private-file.ts'
import { theBed } from '../../test/bed/story.ts'
import { aFolder } from '../../test/folder.ts'
import type { Cost } from '../../test/reconnect.fixture.ts'

const bed = theBed()
const many = Number(process.env['CAPT_RECONNECTS'] ?? 500)
const fixture = resolve(import.meta.dirname, '../../test/reconnect.fixture.ts')

// A server of Node's own: fast, and as rude as it is told to be.
async function aRudeServer(): Promise<Reach> {
  const authority = anAuthority('rude')
  const server = http2.createSecureServer({ ...authority.issueServer('rude', ['127.0.0.1']), allowHTTP1: true })
  const sockets = new Set<Socket>()
  server.on('secureConnection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {})
    socket.setNoDelay(true)
  })
  server.on('sessionError', () => {})
  server.on('request', ({ url }, response) => {
    const object = JSON.stringify({ kind: 'Namespace', apiVersion: 'v1', metadata: { name: 'default' } })
    if (url.endsWith('/cut')) for (const socket of sockets) socket.destroy()
    else if (url.includes('watch=true')) response.write(`{"type":"ADDED","object":${object}}\n`)
    else response.end(object)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { server: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, ca: authority.cert }
}

// Without V8's compilers, which learn for a thousand rounds and keep what they learn: so the heap is level from the start.
const node = ['--expose-gc', '--no-opt', '--no-maglev', '--no-sparkplug', fixture]

async function costOf(count: number, kubeconfigFile: string, protocol: 'h2' | 'http/1.1') {
  const args = [...node, kubeconfigFile, String(count), protocol]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  const { heap, ...cost } = JSON.parse(stdout) as Cost
  const [middle = Number.NaN, end = Number.NaN] = [heap[4], heap[9]]
  const bytesEach = (end - middle) / (count / 2)
  console.info(`${count} reconnects over ${protocol}: ${bytesEach.toFixed(1)} bytes each, in the second half`)
  return { bytesEach, ...cost }
}
const nothing: Omit<Cost, 'heap'> = { listeners: 0, warnings: [], open: ['PipeWrap'], left: ['PipeWrap'] } // its output

test.each(['h2', 'http/1.1'] as const)(
  'cut again and again over %s, a client grows by nothing and keeps nothing',
  { timeout: 120_000 + many * 200 },
  async (protocol) => {
    const file = privateFile(join(aFolder(), 'kubeconfig'), kubeconfig(await aRudeServer(), { token: 'any' }))
    const { bytesEach, ...cost } = await costOf(many, file, protocol)
    expect(bytesEach).toBeLessThan(200)
    expect(cost).toEqual(nothing)
  },
)

test('nor when the API server is a real one', async () => {
  const proxy = await startFaultProxy(bed)
  onTestFinished(proxy.stop)
  const cut = proxy.inject({ path: /namespaces\/cut$/ }, { do: 'reset' })
  const { bytesEach, ...cost } = await costOf(60, await bed.kubeconfigThrough(proxy), 'h2')
  expect(cut.strikes).toHaveLength(60)
  expect(bytesEach).toBeLessThan(2000) // a few rounds are not enough to say more
  expect(cost).toEqual(nothing)
})
