import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { anAuthority } from '../../../test/bed/certificates.ts'
import { seal } from '../../api/sealed.ts'
import { createWorkload } from './workload.ts'

const { greet } = createWorkload({})

test.each<[string, number, object]>([
  ['takes it', 200, { is: 'yes' }],
  ['does not take it', 401, { is: 'no', isRejected: true }],
])('an API server that %s is told from one that is silent', async (_, status, answer) => {
  const authority = anAuthority('workload')
  const { cert, key } = authority.issueServer('api', ['127.0.0.1'])
  const server = createServer({ cert, key }, (__, response) => response.writeHead(status).end('{}'))
  onTestFinished(() => void server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const way = { server: `https://127.0.0.1:${port}`, ca: authority.cert, token: seal('shown') }
  expect(await greet(way)).toMatchObject(answer)
  server.closeAllConnections()
  await new Promise((resolve) => void server.close(resolve))
  expect(await greet(way)).not.toHaveProperty('isRejected')
})
