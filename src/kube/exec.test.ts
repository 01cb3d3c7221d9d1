import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { virtualClock } from '../../test/clock.ts'
import { aFolder } from '../../test/folder.ts'
import { createPlugin, type Plugin } from './exec.ts'

const v1 = 'client.authentication.k8s.io/v1'

// A real program: it counts its runs in `runs`, and says what is in `answer`.
function aPlugin(answer: object | string, script = '', differences: Partial<Plugin> = {}) {
  const folder = aFolder({
    plugin: `#!/bin/sh\ncd "$(dirname "$0")"\necho "$KUBERNETES_EXEC_INFO" >> runs\n${script}\ncat answer\n`,
    runs: '',
  })
  const say = (next: object | string) =>
    writeFileSync(join(folder, 'answer'), typeof next === 'string' ? next : JSON.stringify(next))
  say(answer)
  const clock = virtualClock(Date.parse('2026-01-01T00:00:00Z'))
  const command = join(folder, 'plugin')
  const usual = { apiVersion: v1, command, args: [], env: process.env, cluster: undefined, installHint: undefined }
  const identity = createPlugin({ ...usual, ...differences }, clock.now)
  return {
    ...identity,
    command,
    clock,
    say,
    runs: () => readFileSync(join(folder, 'runs'), 'utf8').trim().split('\n').filter(Boolean),
    token: async () => (await identity.credentials()).token?.open(),
  }
}

function credential(status: object, apiVersion = v1): object {
  return { kind: 'ExecCredential', apiVersion, status }
}

test('a token, or a certificate and its key, in either version', async () => {
  for (const apiVersion of [v1, `${v1}beta1`]) {
    const plugin = aPlugin(credential({ token: 'hush' }, apiVersion), '', { apiVersion })
    expect(await plugin.token()).toBe('hush')
    plugin.say(credential({ clientCertificateData: 'CERT', clientKeyData: 'KEY' }, apiVersion))
    plugin.forget()
    const { certificate, key, token } = await plugin.credentials()
    expect([certificate, key?.open(), token]).toEqual(['CERT', 'KEY', undefined])
  }
})

test('arguments and environment reach it, and what it may know', async () => {
  const script = 'test "$1 $2 $MINE" = "get token too" || exit 9'
  const cluster = { server: 'https://api.example' }
  const env = { ...process.env, MINE: 'too' }
  const plugin = aPlugin(credential({ token: 'hush' }), script, { args: ['get', 'token'], env, cluster })
  expect(await plugin.token()).toBe('hush')
  expect(plugin.runs().map((run) => JSON.parse(run) as unknown)).toEqual([
    { apiVersion: v1, kind: 'ExecCredential', spec: { cluster, interactive: false } },
  ])
})

test('who waits for input gets none, and does not wait', async () => {
  expect(await aPlugin(credential({ token: 'hush' }), 'cat > /dev/null').token()).toBe('hush')
})

test('those who ask at the same time share a run, and later ones its answer', async () => {
  const plugin = aPlugin(credential({ token: 'hush' }))
  expect(await Promise.all([plugin.token(), plugin.token(), plugin.token()])).toEqual(['hush', 'hush', 'hush'])
  await plugin.clock.advance(1e10)
  expect(await plugin.token()).toBe('hush')
  expect(plugin.runs()).toHaveLength(1)
})

test('it is asked again shortly before its answer expires', async () => {
  const plugin = aPlugin(credential({ token: 'one', expirationTimestamp: '2026-01-01T02:00:00+01:00' }))
  await plugin.token()
  plugin.say(credential({ token: 'two' }))
  await plugin.clock.advance(3_600_000 - 30_001)
  expect(await plugin.token()).toBe('one')
  await plugin.clock.advance(1)
  expect(await plugin.token()).toBe('two')
})

test('it is asked again when its answer was refused, or when it failed', async () => {
  const plugin = aPlugin(credential({ token: 'one' }))
  await plugin.token()
  plugin.say(credential({ token: 'two' }))
  plugin.forget()
  expect(await plugin.token()).toBe('two')
  plugin.say('nonsense')
  plugin.forget()
  await expect(plugin.token()).rejects.toThrow('run it by hand')
  plugin.say(credential({ token: 'three' }))
  expect(await plugin.token()).toBe('three')
})

test('a run that is on its way is newer than what was refused, and serves', async () => {
  const plugin = aPlugin(credential({ token: 'one' }))
  const asked = plugin.token()
  plugin.forget()
  expect(await asked).toBe('one')
  expect(await plugin.token()).toBe('one')
  expect(plugin.runs()).toHaveLength(1)
})

describe('what goes wrong is a sentence without what it printed', () => {
  const noCredential = 'gave no ExecCredential with a token, or a certificate and its key: run it by hand to see why'
  test.each<[string, object | string, string, string]>([
    [
      'it fails',
      'hush',
      'echo no >&2; echo expired: sign in >&2; cat answer; exit 3',
      'ended with 3: expired: sign in',
    ],
    ['it fails silently', 'hush', 'cat answer; exit 3', 'ended with 3: run it by hand to see why'],
    ['it is killed', 'hush', 'cat answer; kill -9 $$', 'ended with SIGKILL: run it by hand to see why'],
    ['it speaks no JSON', 'hush', '', noCredential],
    ['another kind', { kind: 'Secret', apiVersion: v1, status: { token: 'hush' } }, '', noCredential],
    ['no status', { kind: 'ExecCredential', apiVersion: v1, hush: 1 }, '', noCredential],
    ['nothing in it', credential({ hush: 1 }), '', noCredential],
    ['a certificate without a key', credential({ token: 'hush', clientCertificateData: 'C' }), '', noCredential],
    ['a key without a certificate', credential({ token: 'hush', clientKeyData: 'hush' }), '', noCredential],
    ['a time that is none', credential({ token: 'hush', expirationTimestamp: 'hush' }), '', noCredential],
    [
      'another version',
      credential({ token: 'hush' }, `${v1}beta1`),
      '',
      `was asked in ${v1} and answered in ${v1}beta1: correct its kubeconfig`,
    ],
  ])('%s', async (_, answer, script, says) => {
    const plugin = aPlugin(answer, script)
    const error = await plugin.credentials().catch((reason: unknown) => reason)
    expect(error).toEqual(new Error(`the exec plugin ${plugin.command} ${says}`))
    expect(error).not.toHaveProperty('cause')
    expect(error).not.toHaveProperty('stdout')
  })

  test.each([
    ['with a hint', 'get it from example.com', 'get it from example.com'],
    ['without', undefined, 'install it, or put it on the PATH'],
  ])('it is not there, %s', async (_, installHint, says) => {
    const plugin = aPlugin('', '', { command: 'capt-no-such-plugin', installHint })
    await expect(plugin.credentials()).rejects.toThrow(
      new Error(`the exec plugin capt-no-such-plugin is not there: ${says}`),
    )
  })

  test('it speaks a version that is gone', () => {
    expect(() => aPlugin('', '', { command: 'old', apiVersion: `${v1}alpha1` })).toThrow(
      new Error(`the exec plugin old speaks ${v1}alpha1, which is not supported: use one that speaks ${v1}`),
    )
  })
})
