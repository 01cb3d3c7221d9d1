// What an apply says arrives in OpenTofu byte for byte, whatever it is, in modules of either form. One run takes hundreds of values.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { theBed } from '../../test/bed/story.ts'
import { aClient } from '../../test/reaching.ts'
import { realParts } from '../../tools/workshop.ts'
import { canonical } from '../api/canonical.ts'
import { seal } from '../api/sealed.ts'
import { type Workspace, workspaceAPIs } from '../api/workspace.ts'
import { type Found, type Rendered, render } from './render.ts'
import { unsafeIn } from './value.ts'

const bed = theBed()
const many = Number(process.env['CAPT_FUZZ_VALUES'] ?? 100)

type Format = 'HCL' | 'JSON'
type Values = Readonly<Record<string, unknown>>

function rendered(module: string, inlineFormat: Format, variables: Values, secrets: Values): Rendered {
  const found = Object.entries(secrets).map(([name, value]): [string, Found] => [
    name,
    { is: 'known', value, isSensitive: true },
  ])
  const result = render({
    apply: {
      metadata: { namespace: 'team-a', name: 'demo' },
      spec: {
        templateRef: { name: 'all' },
        deletionProtection: false,
        retainOnDelete: false,
        variables: { ...variables },
        variablesFrom: found.map(([name]) => ({ name, optional: false })),
      },
    },
    template: {
      metadata: { namespace: 'team-a', name: 'all' },
      spec: { template: { spec: { forProvider: { source: 'Inline', module, inlineFormat } } } },
    },
    api: workspaceAPIs['tf.m.upbound.io'],
    workspace: 'demo',
    found: new Map(found),
    isCrossNamespaceAllowed: false,
    salt: seal('pepper'),
  })
  if (result.is === 'refused') throw new Error(`${result.reason}: ${result.message}`)
  return result
}

// As a Workspace that a manager has written.
async function stored(result: Rendered): Promise<Rendered> {
  const namespace = await bed.namespace('render')
  const { workspace } = workspaceAPIs['tf.m.upbound.io']
  const metadata = { namespace, name: 'demo' }
  const wish: Workspace = { apiVersion: 'tf.m.upbound.io/v1beta1', kind: 'Workspace', metadata, spec: result.spec }
  const { spec } = await aClient(bed.kubeconfig).apply(workspace, wish, { fieldManager: 'story' })
  return { ...result, spec }
}

// Plans what was rendered, with files as an engine writes them, and gives the outputs.
async function planned({ spec: { forProvider }, secretVars }: Rendered): Promise<Values> {
  const { tofu } = await realParts(['tofu'])
  const folder = mkdtempSync(join(tmpdir(), 'capt-render-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, forProvider.inlineFormat === 'JSON' ? 'main.tf.json' : 'main.tf'), forProvider.module)
  const files = { 'secret.tfvars.json': secretVars?.open(), 'varmap.tfvars.json': JSON.stringify(forProvider.varmap) }
  const given = Object.entries(files).flatMap(([name, text]) => {
    if (text === undefined) return []
    writeFileSync(join(folder, name), text)
    return [`-var-file=${name}`]
  })
  const run = (...args: readonly string[]) =>
    spawnSync(tofu, args, { cwd: folder, encoding: 'utf8', maxBuffer: 2 ** 28, env: { PATH: '', HOME: folder } })
  const plan = run('plan', '-input=false', '-no-color', '-out=plan', ...given)
  expect(plan.stderr).toBe('')
  const shown = JSON.parse(run('show', '-json', 'plan').stdout) as {
    readonly planned_values: { readonly outputs: Readonly<Record<string, { readonly value?: unknown }>> }
  }
  return Object.fromEntries(Object.entries(shown.planned_values.outputs).map(([name, { value }]) => [name, value]))
}

// A module that gives back what it is given.
function echoOf(names: readonly string[], format: Format): string {
  if (format === 'HCL')
    return names.map((name) => `variable "${name}" {}\noutput "${name}" {\n  value = var.${name}\n}\n`).join('')
  return JSON.stringify({
    variable: Object.fromEntries(names.map((name) => [name, {}])),
    output: Object.fromEntries(names.map((name) => [name, { value: `\${var.${name}}` }])),
  })
}

const nested = (depth: number): unknown =>
  depth === 0 ? 'deep' : depth % 2 ? [nested(depth - 1)] : { a: nested(depth - 1) }

const odd: readonly unknown[] = [
  '',
  ' ',
  '\t \r\n\n',
  '"',
  "it's",
  '\\',
  '\\"\\\\n\\u0041',
  '$',
  '${x}',
  '${var.v0}',
  '$${x}',
  '$$$${x}',
  '%{if true}x%{endif}',
  '%%{if}',
  '<<EOT\nx\nEOT\n',
  '# no comment\n/* nor this */ // nor this',
  '{"a": [1, "${x}"]}',
  '[1,',
  'null',
  'true',
  '007',
  '1e5',
  'é ö ß ﬁ 한글 日本語 𝒳 👩‍👩‍👧‍👦 ‮rtl‬',
  '\u0000\u0001\u001f\u007f\u0085\u2028\u2029\uFEFF\uFFFD\u{10FFFF}',
  'x'.repeat(100_000),
  '${"'.repeat(30_000),
  0,
  -1,
  0.1,
  -1.5e-7,
  2 ** 53 - 1,
  1.7976931348623157e308 / 2 ** 1000,
  true,
  null,
  null,
  false,
  [],
  {},
  [1, 'a', null, { b: [] }],
  { '': 1, 'a.b': '${x}', '${y}': { '"': [null] }, constructor: 1, é: 'ü' },
  nested(200),
]

// Whatever can be passed on at all.
const anyText = fc.string({ unit: 'binary' }).map((text) => text.toWellFormed().normalize('NFC'))
const anyValue = fc
  .jsonValue({ stringUnit: 'binary', maxDepth: 4 })
  .map((value): unknown => JSON.parse(JSON.stringify(value)))
  .filter((value) => unsafeIn(value) === undefined)

describe.each<Format>(['HCL', 'JSON'])('in a module in %s', (format) => {
  test('every value arrives as it was given, openly or as a secret', async () => {
    const values = [...odd, ...fc.sample(anyText, many), ...fc.sample(anyValue, many)]
    const named = values.map((value, index): [string, unknown] => [`v${index}`, value])
    const isSecret = (name: string) => Number(name.slice(1)) % 2 === 1
    const open = Object.fromEntries(named.filter(([name]) => !isSecret(name)))
    const secret = Object.fromEntries(named.filter(([name]) => isSecret(name)))
    const result = rendered(
      echoOf(
        named.map(([name]) => name),
        format,
      ),
      format,
      open,
      secret,
    )

    const workspace = await stored(result)
    expect(canonical(workspace.spec.forProvider.varmap) === canonical(open)).toBe(true) // too long to be shown

    const outputs = await planned(workspace)
    const changed = named.filter(([name, value]) => canonical(outputs[name] ?? null) !== canonical(value))
    expect(changed.map(([, value]) => value)).toEqual([])
  })

  test('what is filled in for a placeholder means what it says, and nothing more', async () => {
    const letters = 'abcxyzABCXYZ0189 ._:/@+=,-'.split('')
    const texts = fc.sample(
      fc.array(fc.constantFrom(...letters)).map((each) => each.join('')),
      many,
    )
    const named = texts.map((text, index): [string, string] => [`k${index}`, text])
    const written = Object.fromEntries(named.map(([name]) => [name, { value: `<\${${name}}> $\${${name}}` }]))
    const module =
      format === 'JSON'
        ? JSON.stringify({ output: written })
        : named.map(([name]) => `output "${name}" {\n  value = "<\${${name}}> $\${${name}}"\n}\n`).join('')
    const outputs = await planned(rendered(module, format, Object.fromEntries(named), {}))
    expect(outputs).toEqual(Object.fromEntries(named.map(([name, text]) => [name, `<${text}> \${${name}}`])))
  })
})
