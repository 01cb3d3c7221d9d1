import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import type { Inputs } from './inputs.ts'
import { packInputs, packRun, packState, type Run, readMemory } from './memory.ts'

const run: Run = {
  operation: 'apply',
  revision: 'r1',
  startedAt: '2026-11-16T12:00:00.000Z',
  host: 'engine-0',
  bootId: 'boot',
  creates: ['aws_vpc.this'],
}

const inputs: Inputs = {
  files: { 'main.tf': 'résumé "${x}"\n', 'secret.tfvars.json': '{"password":"hunter2"}' },
  env: { REGION: 'eu-central-1' },
  varArgs: ['-var-file=secret.tfvars.json'],
  hasBackendFile: false,
  usesPluginCache: true,
  isLogged: false,
  secrets: ['hunter2'],
}

const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64')

test('what was packed is remembered', async () => {
  const state = { lineage: 'l', serial: 7, isEmpty: false }
  const packed = await packInputs(inputs)
  expect(packed).toBeDefined()
  const data = { run: packRun(run), state: packState(state), inputs: packed ?? '' }
  expect(await readMemory(data)).toEqual({ run, state, inputs })
  expect(await readMemory({})).toEqual({})
})

test('of more addresses than there is room for, it is remembered that they were many', async () => {
  const creates = Array.from({ length: 5000 }, (_, index) => `aws_subnet.this["${index}-${'x'.repeat(30)}"]`)
  const packed = packRun({ ...run, creates })
  expect(packed.length).toBeLessThan(2000)
  expect(await readMemory({ run: packed })).toEqual({ run: { ...run, creates: 'many' } })
})

test('inputs that do not fit are not packed', async () => {
  const large = { ...inputs, files: { 'main.tf': randomBytes(1_000_000).toString('base64') } }
  expect(await packInputs(large)).toBeUndefined()
})

test('all that fits, fits together', async () => {
  const { length } = packRun({ ...run, creates: ['x'.repeat(99_000)] })
  const most = await packInputs({ ...inputs, files: { 'main.tf': randomBytes(880_000).toString('base64') } })
  expect(most).toBeDefined()
  expect((length + (most?.length ?? 0)) * 0.75).toBeLessThan(1024 * 1024)
})

test.each<[string, Readonly<Record<string, string>>]>([
  ['no base64', { run: '?', state: '?', inputs: '?' }],
  ['no JSON', { run: btoa('{'), state: btoa('{'), inputs: gzipSync('{').toString('base64') }],
  ['a run without its host', { run: base64({ ...run, host: undefined }) }],
  ['a run of another kind', { run: base64({ ...run, operation: 'import' }) }],
  ['a run with addresses that are none', { run: base64({ ...run, creates: [1] }) }],
  ['a state without a serial', { state: base64({ lineage: 'l', isEmpty: false }) }],
  ['inputs without files', { inputs: gzipSync(JSON.stringify({ ...inputs, files: undefined })).toString('base64') }],
  [
    'inputs with a file that is none',
    { inputs: gzipSync(JSON.stringify({ ...inputs, files: { a: 1 } })).toString('base64') },
  ],
])('%s is as nothing', async (_, data) => {
  expect(await readMemory(data)).toEqual({})
})
