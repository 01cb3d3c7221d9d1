import { hash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { aFolder } from '../../test/folder.ts'
import { aTar } from '../../test/tar.ts'
import { fetchArtifact } from './artifact.ts'
import { InputsError } from './inputserror.ts'

async function served(body: Buffer, status = 200): Promise<string> {
  const server = createServer((_, answer) => {
    answer.writeHead(status).end(body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/a.tar.gz`
}

const digestOf = (body: Buffer) => `sha256:${hash('sha256', body, 'hex')}`
const good = gzipSync(aTar({ path: 'main.tf', text: '# it' }, { path: 'bin/run', text: 'x', mode: 0o755 }))

test('an artifact is unpacked', async () => {
  const folder = aFolder()
  await fetchArtifact(await served(good), digestOf(good), folder)
  expect(readFileSync(join(folder, 'main.tf'), 'utf8')).toBe('# it')
  expect(statSync(join(folder, 'bin/run')).mode & 0o100).toBe(0o100)
})

test.each<[string, Buffer, string | undefined, number, string]>([
  ['is another than was meant', good, 'sha256:00', 200, 'has not the digest sha256:00: let Flux fetch it again'],
  ['is not there', good, undefined, 404, 'it answers 404'],
  ['is not packed', Buffer.from('hello'), undefined, 200, 'cannot be unpacked'],
  ['climbs', gzipSync(aTar({ path: '../x' })), undefined, 200, 'leads out of it'],
  ['is a bomb', gzipSync(Buffer.alloc(130 * 2 ** 20)), undefined, 200, 'cannot be unpacked'],
  ['is too large', Buffer.alloc(33 * 2 ** 20), undefined, 200, 'it is larger than 32 MiB'],
])('an artifact that %s is refused', async (_, body, digest, status, says) => {
  const folder = aFolder()
  const refused = fetchArtifact(await served(body, status), digest ?? digestOf(body), folder)
  await expect(refused).rejects.toThrow(InputsError)
  await expect(refused).rejects.toThrow('cannot get Flux Artefact Terraform module: ')
  await expect(refused).rejects.toThrow(says)
  expect(existsSync(join(folder, 'main.tf'))).toBe(false)
})

test('a source that does not answer is told with the reason', async () => {
  const server = createServer((request) => request.socket.destroy())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/a`
  await expect(fetchArtifact(url, 'sha256:00', aFolder())).rejects.toThrow(`${url}: other side closed`)
})
