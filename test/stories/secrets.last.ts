// After all other stories: nothing secret is in anything that people see who may not read Secrets, be it log, event, condition,
// metric or Workspace. The audit log has every write of the whole run with its body, but for those of Secrets.
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { text } from 'node:stream/consumers'
import { expect, inject, test } from 'vitest'
import { lentAudits } from '../bed/audit.ts'
import { onBed } from '../bed/bed.ts'
import { bedAws } from '../bed/manager.ts'
import { secretMark } from '../bed/secretmark.ts'
import { until } from '../until.ts'

const bed = inject('bed') as ReturnType<typeof inject<'bed'>> | undefined // there is none when no story runs

// A piece of text as base64 has it, wherever in a longer text it begins.
function encodings(secret: string): readonly string[] {
  return [0, 1, 2].map((before) => {
    const encoded = Buffer.from(`${'x'.repeat(before)}${secret}`).toString('base64')
    return encoded.slice(Math.ceil((before * 4) / 3) + (before ? 1 : 0), -4)
  })
}

const marks = [secretMark, bedAws.secretAccessKey].flatMap((each) => [each, ...encodings(each)])
const shapes = [
  /k8s-aws-v1\.[\w-]{40,}/, // a token for EKS
  /X-Amz-Signature/,
  /eyJhbGciOi[\w-]{20,}\.[\w-]{20,}\.[\w-]{20,}/, // a token of a ServiceAccount
  /PRIVATE KEY-----/,
]

// What stands before each.
function secretsIn(told: string): readonly string[] {
  const places = [...marks.map((mark) => told.indexOf(mark)), ...shapes.map((shape) => told.search(shape))]
  return places.filter((at) => at >= 0).map((at) => told.slice(Math.max(0, at - 200), at))
}

test('a secret would be found, however it is written', () => {
  const token = `${secretMark}0123456789abcdef`
  for (const told of [token, ...['', 'a', 'ab'].map((before) => Buffer.from(`${before}${token}`).toString('base64'))])
    expect(secretsIn(`before ${told} after`)).toHaveLength(1)
  expect(secretsIn('nothing of the kind')).toEqual([])
})

test.skipIf(!bed)('nobody sees a secret who may not read Secrets', async () => {
  if (!bed) return
  const logs = [bed.manager?.log, bed.engine?.log].filter((each) => each !== undefined)
  for (const file of [...logs, bed.auditLog, ...(await lentAudits(bed))])
    expect({ file, found: secretsIn(await readFile(file, 'utf8')) }).toEqual({ file, found: [] })
})

test.skipIf(!bed)('no metric tells one, though every write of a Secret is counted', async () => {
  const told = await metricsOf(bed?.manager?.diagnostics ?? '')
  expect(secretsIn(told)).toEqual([])
  expect(told).toMatch(/^capt_secret_writes_total\{verb="apply"\} [1-9]/m)
})

// As an administrator.
async function metricsOf(diagnostics: string): Promise<string> {
  if (!bed) return ''
  const { kube } = onBed(bed)
  const metadata = { namespace: 'default', name: 'metrics-of-all' }
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata }
  const role = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' }
  const subjects = [{ kind: 'ServiceAccount', ...metadata }]
  const binding = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata,
    roleRef: role,
    subjects,
  }
  await kube.apply(account, binding)
  const token = await kube.kubectl(['create', 'token', metadata.name, '--namespace', metadata.namespace])
  return until('the metrics are told', async () => {
    const asked = request(new URL('/metrics', diagnostics), {
      agent: false,
      rejectUnauthorized: false, // it vouches for itself
      headers: { authorization: `Bearer ${token.trim()}` },
    })
    asked.end()
    const [response] = (await once(asked, 'response')) as [IncomingMessage]
    const body = await text(response)
    return response.statusCode === 200 ? body : undefined
  })
}
