// What we say of types and values, OpenTofu says too. One run of it judges hundreds of variables at once.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { anyType, valueFor } from '../../test/terraform-types.ts'
import { realParts } from '../../tools/workshop.ts'
import { misfit, parseType, type Type, tellType } from './type.ts'

const many = Number(process.env['CAPT_FUZZ_TYPES'] ?? 400)

interface Diagnostic {
  readonly severity: string
  readonly detail: string
  readonly range?: { readonly filename: string }
}

// Plans a module of variables and returns the numbers of those that OpenTofu complains of. Each stands in a file of its
// own, so that a syntax error in one hides none of the others.
async function refusedOf(types: readonly string[], values: readonly unknown[]): Promise<ReadonlySet<number>> {
  const { tofu } = await realParts(['tofu'])
  const folder = mkdtempSync(join(tmpdir(), 'capt-types-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const [index, type] of types.entries())
    writeFileSync(join(folder, `v${index}.tf`), `variable "v${index}" {\n  type = ${type}\n}\n`)
  const named = Object.fromEntries(values.map((value, index) => [`v${index}`, value]))
  writeFileSync(join(folder, 'terraform.tfvars.json'), JSON.stringify(named))
  const { stdout, stderr } = spawnSync(tofu, ['plan', '-json', '-input=false'], {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    env: { PATH: '', HOME: folder },
  })
  const lines = stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { type: string; diagnostic: Diagnostic })
  expect(lines.length, stderr).toBeGreaterThan(0)
  const errors = lines.filter(({ type, diagnostic }) => type === 'diagnostic' && diagnostic.severity === 'error')
  return new Set(
    errors.flatMap(({ diagnostic: { detail, range } }) => {
      const inValues = [...detail.matchAll(/\bvar\.v(\d+)\b/g)].map(([, index]) => Number(index))
      const inTypes = range?.filename.match(/^v(\d+)\.tf$/)?.[1]
      return [...inValues, ...(inTypes === undefined ? [] : [Number(inTypes)])]
    }),
  )
}

const anyCases = (withAny: boolean) =>
  fc.sample(
    anyType({ withAny }).chain((type) => valueFor(type).map((value): [Type, unknown] => [type, value])),
    many,
  )

test('a value fits a type for us exactly when it does for OpenTofu', async () => {
  const cases = anyCases(false)
  const refused = await refusedOf(
    cases.map(([type]) => tellType(type)),
    cases.map(([, value]) => value),
  )
  const judged = cases.map(([type, value], index) => ({
    type: tellType(type),
    value,
    ours: misfit(type, value) === undefined,
    theirs: !refused.has(index),
  }))
  expect(judged.filter(({ ours, theirs }) => ours !== theirs)).toEqual([])
  expect(refused.size).toBeGreaterThan(many / 20)
})

test('what is inside any is never complained of, unless OpenTofu complains too', async () => {
  const cases = anyCases(true)
  const refused = await refusedOf(
    cases.map(([type]) => tellType(type)),
    cases.map(([, value]) => value),
  )
  const overzealous = cases.filter(([type, value], index) => misfit(type, value) !== undefined && !refused.has(index))
  expect(overzealous.map(([type, value]) => [tellType(type), value])).toEqual([])
})

test('a text is a type for us exactly when it is one for OpenTofu', async () => {
  const mangled = anyType()
    .map((type) => tellType(type))
    .chain((text) =>
      fc.oneof(
        fc.constant(text),
        fc.nat(text.length).map((at) => text.slice(0, at) + text.slice(at + 1)),
        fc
          .tuple(fc.nat(text.length), fc.constantFrom(',', 'x', '=', 'optional(', 'string', '"a"'))
          .map(([at, more]) => text.slice(0, at) + more + text.slice(at)),
      ),
    )
  const texts = fc.sample(mangled, many)
  const refused = await refusedOf(texts, [])
  const judged = texts.map((text, index) => ({ text, ours: isType(text), theirs: !refused.has(index) }))
  expect(judged.filter(({ ours, theirs }) => ours !== theirs)).toEqual([])
})

function isType(text: string): boolean {
  try {
    parseType(text)
    return true
  } catch {
    return false
  }
}
