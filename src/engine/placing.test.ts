import { mkdirSync, readdirSync, readFileSync, readlinkSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { aFolder } from '../../test/folder.ts'
import { everythingIn, place, type Wanted } from './placing.ts'

// A folder to place into, what it holds, and where to copy from.
function aPlace() {
  const all = aFolder()
  const [folder, source, note] = [join(all, 'folder'), join(all, 'source'), join(all, 'note')]
  mkdirSync(folder)
  mkdirSync(source)
  const held = () =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.isDirectory())
      .map((entry) => {
        const path = join(entry.parentPath, entry.name)
        const name = path.slice(folder.length + 1)
        return entry.isSymbolicLink() ? `${name} -> ${readlinkSync(path)}` : `${name}: ${readFileSync(path, 'utf8')}`
      })
      .toSorted()
  const put = async (wanted: Readonly<Record<string, Wanted>>) => place(new Map(Object.entries(wanted)), folder, note)
  return { folder, source, note, held, put }
}

const text = (of: string): Wanted => ({ text: of })

test('what was placed earlier and is no longer wanted goes, what others put there stays', async () => {
  const { put, held, folder } = aPlace()
  await put({ 'a.tf': text('1'), 'sub/b.tf': text('2') })
  mkdirSync(join(folder, '.terraform'))
  writeFileSync(join(folder, '.terraform/x'), 'kept')
  writeFileSync(join(folder, 'sub/theirs'), 'kept')
  await put({ 'a.tf': text('changed') })
  expect(held()).toEqual(['.terraform/x: kept', 'a.tf: changed', 'sub/theirs: kept'])
})

test('a text of ours is put right whatever became of it, and never written through a link', async () => {
  const { put, held, folder, source } = aPlace()
  writeFileSync(join(source, 'victim'), 'untouched')
  await put({ a: { link: join(source, 'victim') } })
  await put({ a: text('ours') })
  expect([held(), readFileSync(join(source, 'victim'), 'utf8')]).toEqual([['a: ours'], 'untouched'])
  writeFileSync(join(folder, 'a'), 'spoilt')
  await put({ a: text('ours') })
  expect(held()).toEqual(['a: ours'])
})

test('a file that init has changed stays changed until its source changes', async () => {
  const { put, held, folder, source } = aPlace()
  const file = join(source, 'lock')
  writeFileSync(file, 'sums')
  await put({ '.terraform.lock.hcl': { file } })
  writeFileSync(join(folder, '.terraform.lock.hcl'), 'sums and more')
  await put({ '.terraform.lock.hcl': { file } })
  expect(held()).toEqual(['.terraform.lock.hcl: sums and more'])
  writeFileSync(file, 'other sums')
  await put({ '.terraform.lock.hcl': { file } })
  expect(held()).toEqual(['.terraform.lock.hcl: other sums'])
})

test('modes of copies are kept, texts are private', async () => {
  const { put, folder, source } = aPlace()
  writeFileSync(join(source, 'run'), '', { mode: 0o755 })
  await put({ run: { file: join(source, 'run') }, secret: text('x') })
  expect(['run', 'secret'].map((name) => statSync(join(folder, name)).mode & 0o777)).toEqual([
    statSync(join(source, 'run')).mode & 0o777,
    0o600,
  ])
})

test('cut off anywhere, the next time makes it good', async () => {
  const { put, held, folder, note, source } = aPlace()
  writeFileSync(join(source, 'b'), 'b')
  const wanted = { a: text('a'), 'sub/b': { file: join(source, 'b') } }
  await put({ old: text('old'), ...wanted })
  // As a pass leaves it that has noted what it is about to do, and done half of it.
  writeFileSync(note, JSON.stringify({ ...JSON.parse(readFileSync(note, 'utf8')), 'sub/b': '', half: '' }))
  writeFileSync(join(folder, 'sub/b'), '')
  writeFileSync(join(folder, 'half'), 'ha')
  await put(wanted)
  expect(held()).toEqual(['a: a', 'sub/b: b'])
  writeFileSync(note, '{"a":"') // the note itself was cut off
  await put(wanted)
  expect(held()).toEqual(['a: a', 'sub/b: b'])
})

test('what was placed before the rest could not be is known the next time', async () => {
  const { put, held, folder } = aPlace()
  writeFileSync(join(folder, 'theirs'), '')
  await expect(put({ a: text('a'), 'theirs/b': text('b') })).rejects.toThrow(/ENOTDIR|EEXIST/)
  await put({})
  expect(held()).toEqual(['theirs: '])
})

test('whatever is wanted after whatever else, just that is there', async () => {
  const name = fc.constantFrom('a', 'b', 'a/c', 'a/d', 'b/c/d', 'e')
  const tree = fc
    .dictionary(name, fc.constantFrom('1', '2', 'link'))
    .filter(
      (each) => !Object.keys(each).some((path) => Object.keys(each).some((other) => path.startsWith(`${other}/`))),
    )
  await fc.assert(
    fc.asyncProperty(fc.array(tree, { minLength: 1, maxLength: 4 }), async (trees) => {
      const { put, held, source } = aPlace()
      for (const number of ['1', '2']) writeFileSync(join(source, number), number)
      for (const each of trees) {
        const wanted = Object.entries(each).map(([path, of]): [string, Wanted] =>
          of === 'link' ? [path, { link: 'e' }] : [path, path.length > 1 ? text(of) : { file: join(source, of) }],
        )
        await put(Object.fromEntries(wanted))
      }
      const last = Object.entries(trees.at(-1) ?? {})
      expect(held()).toEqual(last.map(([path, of]) => (of === 'link' ? `${path} -> e` : `${path}: ${of}`)).toSorted())
    }),
    { numRuns: 40 },
  )
})

test('links within a folder are links, those that lead nowhere are left out, and those that lead out refused', async () => {
  const { source } = aPlace()
  mkdirSync(join(source, 'sub'))
  writeFileSync(join(source, 'sub/a'), '')
  symlinkSync('sub', join(source, 'dir'))
  symlinkSync('../sub/a', join(source, 'sub/self'))
  symlinkSync('nowhere', join(source, 'broken'))
  expect(Object.fromEntries(await everythingIn(source))).toEqual({
    dir: { link: 'sub' },
    'sub/a': { file: join(source, 'sub/a') },
    'sub/self': { link: '../sub/a' },
  })
  symlinkSync('../..', join(source, 'sub/out'))
  await expect(everythingIn(source)).rejects.toThrow(
    'the module links sub/out to a place outside of it: remove the link',
  )
})
