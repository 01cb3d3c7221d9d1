// After all other stories: nothing secret is in anything that people see who may not read Secrets, be it log, event, condition,
// metric or Workspace. The audit log has every write of the whole run with its body, but for those of Secrets.
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, inject, onTestFinished, test, vi } from 'vitest'
import { onBed } from '../bed/bed.ts'
import { foundHousehold, heir } from '../bed/household.ts'
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
  /X-Amz-Signature(=|%3D)\w{8,}/,
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

// Files, with what stands before each secret in them.
async function leaksIn(logs: string): Promise<Readonly<Record<string, readonly string[]>>> {
  const files = (await readdir(logs, { recursive: true })).filter((each) => each.endsWith('.log'))
  const found = await Promise.all(
    files.map(async (file) => [file, secretsIn(await readFile(join(logs, file), 'utf8'))] as const),
  )
  return Object.fromEntries(found.filter(([, secrets]) => secrets.length > 0))
}

test('a secret would be found in the log of whatever a story has started', async () => {
  const logs = await mkdtemp(join(tmpdir(), 'capt-leaks-'))
  onTestFinished(async () => rm(logs, { recursive: true }))
  vi.stubEnv(heir, logs)
  onTestFinished(() => void vi.unstubAllEnvs())
  const home = foundHousehold('leaking')
  const { obituary } = home.start('engine', 'echo', ['the token is', `${secretMark}0123456789abcdef`])
  await until('it has spoken', async () => obituary())
  await home.end()
  expect(Object.entries(await leaksIn(logs))).toEqual([
    [expect.stringMatching(/capt-leaking-.*engine\.log/), ['the token is ']],
  ])
})

test.skipIf(!bed)('nobody sees a secret who may not read Secrets', async () => {
  if (!bed) return
  expect(await leaksIn(bed.logs)).toEqual({})
  expect(await readdir(bed.logs)).toEqual(expect.arrayContaining(['manager.log', 'engine.log', basename(bed.auditLog)]))
})

test.skipIf(!bed)('no metric tells one, though every write of a Secret is counted', async () => {
  const told = await metricsOf(bed?.manager?.diagnostics ?? '')
  expect(secretsIn(told)).toEqual([])
  expect(told).toMatch(/^capt_secret_writes_total\{verb="apply"\} [1-9]/m)
  expect(secretsIn(await metricsOf(bed?.engine?.diagnostics ?? ''))).toEqual([])
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
