import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'

// In a process of its own: tests share their modules, and another may have asked for a schema already.
const script = `
import * as z from 'zod'
// Every schema with a description is entered into zod's registry when it is built.
let entered = 0
const add = z.globalRegistry.add
z.globalRegistry.add = function (...args) { entered++; return add.apply(this, args) }
const { kinds } = await import('./kinds.ts')
const told = { byImport: entered, unbuilt: [], builtTwice: [] }
for (const { kind, spec, status } of kinds) {
  const before = entered
  const [first, second] = [spec(), status()]
  if (entered === before) told.unbuilt.push(kind)
  if (spec() !== first || status() !== second) told.builtTwice.push(kind)
}
console.log(JSON.stringify(told))
`

test('no schema is built before somebody asks for it, and none twice', () => {
  const told = execFileSync(process.execPath, ['--input-type=module', '--eval', script], { cwd: import.meta.dirname })
  expect(JSON.parse(told.toString())).toEqual({ byImport: 0, unbuilt: [], builtTwice: [] })
})
