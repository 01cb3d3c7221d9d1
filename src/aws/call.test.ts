import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { until } from '../../test/until.ts'
import { type Around, call, type Question } from './call.ts'

async function aServer() {
  const open = new Set<Socket>()
  let seen = 0
  const server = createServer((_, response) => response.end('hello'))
  server.on('connection', (socket) => {
    seen++
    open.add(socket)
    socket.on('close', () => open.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  // Not an address of the loopback, which no proxy is asked for anyway, and still this machine.
  const question: Question = { doing: 'ask', method: 'GET', url: new URL(`http://0.0.0.0:${port}/`), headers: {} }
  return { question, open, seen: () => seen }
}

const around: Around = { env: { HTTP_PROXY: 'http://127.0.0.1:1' }, withinMs: 2000, now: Date.now }

test('what is near is called past the proxy', async () => {
  const { question } = await aServer()
  expect(await call({ ...question, isNear: true }, around)).toEqual({ status: 200, text: 'hello' })
  await expect(call(question, around)).rejects.toThrow(/^cannot ask: .*the proxy 127\.0\.0\.1:1 gives no way/)
})

test('no connection is left, even when there was nothing to say', async () => {
  const { question, open, seen } = await aServer()
  await expect(call({ ...question, isNear: true, headers: { a: 'line\nbreak' } }, around)).rejects.toThrow(
    /^cannot ask: .*Invalid character in header content/,
  )
  await until('the connection is gone', async () => (seen() === 1 && open.size === 0) || undefined)
})
