import { homedir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { workshop } from './workshop.ts'

test('the cache is where a person says, or where their system keeps such things', () => {
  expect(workshop({ CAPT_CACHE: '/fast/disk', XDG_CACHE_HOME: '/x' }).cache).toBe('/fast/disk')
  expect(workshop({ XDG_CACHE_HOME: '/x' }).cache).toBe('/x/capt')
  expect(workshop({}).cache).toBe(join(homedir(), '.cache', 'capt'))
})

test('a CAPT_TOOLS that leads nowhere is told, not passed over', () => {
  expect(() => workshop({ CAPT_TOOLS: '/no/such/folder' })).toThrow(
    'CAPT_TOOLS names /no/such/folder, which does not exist: point it at a folder of programs, or unset it',
  )
})
