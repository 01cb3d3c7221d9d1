// The project's own programs, offered as ready ones, pass the check of their versions.
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { locate } from './build.ts'
import { type Part, parts } from './parts.ts'
import { workshop } from './workshop.ts'

test('every program that was built is accepted as a ready one', async () => {
  const programs = Object.fromEntries(Object.entries<Part>(parts).filter(([, { recipe }]) => recipe.from === 'package'))
  const ready = mkdtempSync(join(tmpdir(), 'capt-ready-'))
  onTestFinished(() => rmSync(ready, { recursive: true }))
  const built = await locate(programs, { ...workshop(), ready: undefined })
  for (const [name, file] of Object.entries(built)) symlinkSync(file, join(ready, name))
  const found = await locate(programs, { ...workshop(), cache: join(ready, 'no-cache'), ready })
  expect(Object.values(found)).toEqual(Object.keys(programs).map((name) => join(ready, name)))
})
