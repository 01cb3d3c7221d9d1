import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { virtualClock } from '../../test/clock.ts'
import { aFolder } from '../../test/folder.ts'
import { createSearch, findTerraform } from './binary.ts'

const says = (text: string) => `#!/bin/sh\n[ "$*" = version ] && [ "$CHECKPOINT_DISABLE" = 1 ] && echo '${text}'\n`
const tofu = says('OpenTofu v1.12.6\non linux_amd64')
const terraform = says('Terraform v1.5.7\non linux_amd64\n\nYour version of Terraform is out of date!')

test('OpenTofu is taken before Terraform, whatever their order on the PATH', async () => {
  const [first, second] = [aFolder({ terraform }), aFolder({ tofu })]
  const PATH = `relative::${first}:${second}:/usr/bin:/bin`
  expect(await findTerraform(undefined, { PATH })).toEqual({
    program: join(second, 'tofu'),
    family: 'tofu',
    version: '1.12.6',
  })
})

test('Terraform is taken where there is no OpenTofu', async () => {
  const folder = aFolder({ terraform })
  expect(await findTerraform('', { PATH: folder })).toMatchObject({ family: 'terraform', version: '1.5.7' })
})

test('who it is, a program says itself: OpenTofu often goes by the other name', async () => {
  const folder = aFolder({ terraform: tofu, mine: terraform })
  expect(await findTerraform('terraform', { PATH: folder })).toMatchObject({ family: 'tofu' })
  expect(await findTerraform(join(folder, 'mine'), {})).toMatchObject({ family: 'terraform' })
})

test('what may not be executed is not one', async () => {
  const folder = aFolder({ tofu, terraform })
  chmodSync(join(folder, 'tofu'), 0o600)
  mkdirSync(join(folder, 'sub'))
  expect(await findTerraform(undefined, { PATH: folder })).toMatchObject({ family: 'terraform' })
})

test.each<[string, string | undefined, string]>([
  ['none is there', undefined, 'there is neither tofu nor terraform on the PATH: install one, or name it by'],
  ['the one asked for is not there', 'tofu-1.9', 'there is no program tofu-1.9: correct --terraform-binary'],
  ['the path leads nowhere', '/nowhere/tofu', 'there is no program /nowhere/tofu'],
  ['it is something else', 'other', '/other is neither OpenTofu nor Terraform'],
  ['it fails', 'broken', '/broken cannot be run'],
])('it says what to do when %s', async (_, asked, message) => {
  const folder = aFolder({ other: says('git version 2'), broken: '#!/bin/sh\nexit 9\n' })
  await expect(findTerraform(asked, { PATH: folder })).rejects.toThrow(message)
})

test('a program that is installed later is found by whoever asks, and looked for at most every ten seconds', async () => {
  const clock = virtualClock()
  const told: string[] = []
  let isThere = false
  let looks = 0
  const search = createSearch({
    clock,
    async find() {
      looks++
      if (!isThere) throw new Error('install one')
      return { program: '/bin/tofu', family: 'tofu', version: '1.12.6' }
    },
    onFound: ({ program }) => void told.push(program),
    onMissing: (why) => void told.push(why),
  })
  await search.look()
  await search.look()
  expect(looks).toBe(1)
  expect(search.missing()).toBe('no Terraform found: install one')
  await clock.advance(10_000)
  await search.look()
  expect(told).toEqual(['no Terraform found: install one'])
  isThere = true
  await search.look()
  expect(search.missing()).toBeDefined()
  await clock.advance(10_000)
  await Promise.all([search.look(), search.look()])
  expect(search.missing()).toBeUndefined()
  await clock.advance(60_000)
  await search.look()
  expect(looks).toBe(3)
  expect(told).toEqual(['no Terraform found: install one', '/bin/tofu'])
})
