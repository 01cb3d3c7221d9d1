import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { aFolder } from '../../test/folder.ts'
import { createSweep } from './folders.ts'

const uid = (number: number) => `00000000-0000-4000-8000-00000000000${number}`

test('folders of Workspaces that are no more go: at the start at once, later when they were unknown twice', async () => {
  const root = aFolder()
  for (const name of [uid(1), uid(2), 'plugins']) mkdirSync(join(root, name))
  const living = new Set([uid(1)])
  const sweep = createSweep(root, () => living)
  await sweep(true)
  expect(readdirSync(root).toSorted()).toEqual([uid(1), 'plugins'])
  mkdirSync(join(root, uid(3))) // of a Workspace so new that it is not known yet
  await sweep(false)
  living.add(uid(3))
  living.delete(uid(1))
  await sweep(false)
  expect(readdirSync(root).toSorted()).toEqual([uid(1), uid(3), 'plugins'])
  await sweep(false)
  expect(readdirSync(root).toSorted()).toEqual([uid(3), 'plugins'])
})
