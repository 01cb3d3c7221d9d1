// The rooms of src/ and who may import whom, as ARCHITECTURE.md says it.
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import manifest from '../package.json' with { type: 'json' }

const root = resolve(import.meta.dirname, '..')
const page = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8')

interface Room {
  readonly isToCome: boolean
  readonly mayImport: readonly string[]
}
type Rooms = Readonly<Record<string, Room>>

interface SourceFile {
  readonly path: string // from src/
  readonly text: string
}

const rooms: Rooms = Object.fromEntries(
  rowsUnder('## The rooms').map(([name = '', imports = '']) => [
    name.replace(' (to come)', ''),
    { isToCome: name.endsWith(' (to come)'), mayImport: imports === '–' ? [] : imports.split(', ') },
  ]),
)
const production = manifest.dependencies

test('every room has a folder, unless it is to come, and every folder is a room', () => {
  const built = Object.entries(rooms).filter(([, { isToCome }]) => !isToCome)
  expect(readdirSync(join(root, 'src')).toSorted()).toEqual(built.map(([name]) => name).toSorted())
})

test('the arrow of the rooms has no circle', () => {
  const order = Object.keys(rooms)
  for (const [name, { mayImport }] of Object.entries(rooms)) {
    for (const other of mayImport)
      expect(order.indexOf(other), `${name} imports ${other}`).toBeLessThan(order.indexOf(name))
    expect(order).toEqual(expect.arrayContaining([...mayImport]))
  }
})

test('no file imports against the arrow', () => {
  const files = globSync('src/**/*.ts', { cwd: root, exclude: ['**/*.test.ts', '**/*.story.ts'] }).map((path) => ({
    path: relative('src', path),
    text: readFileSync(join(root, path), 'utf8'),
  }))
  expect(files.length).toBeGreaterThan(0)
  expect(files.flatMap((file) => trespasses(file, rooms, Object.keys(production)))).toEqual([])
})

describe('the check itself', () => {
  const three: Rooms = {
    api: { isToCome: false, mayImport: [] },
    runtime: { isToCome: false, mayImport: ['api'] },
    controllers: { isToCome: false, mayImport: ['api', 'runtime'] },
  }
  test.each<[string, string, string[]]>([
    ['an import along the arrow', "import { a } from '../api/object.ts'", []],
    ['an import in its own room', "import { a } from './queue.ts'", []],
    ['an import of Node', "import { a } from 'node:fs'", []],
    ['an import of a dependency', "import { a } from 'zod/mini'", []],
    ['the manifest', "import about from '../../package.json' with { type: 'json' }", []],
    [
      'an import against the arrow',
      "import { a } from '../controllers/index.ts'",
      ['runtime/loop.ts imports controllers/index.ts'],
    ],
    [
      'a type import against it',
      "import type { A } from '../controllers/index.ts'",
      ['runtime/loop.ts imports controllers/index.ts'],
    ],
    [
      'an export against it',
      "export * from '../controllers/index.ts'",
      ['runtime/loop.ts imports controllers/index.ts'],
    ],
    [
      'a late import against it',
      "await import('../controllers/index.ts')",
      ['runtime/loop.ts imports controllers/index.ts'],
    ],
    ['an import for effect', "import '../controllers/index.ts'", ['runtime/loop.ts imports controllers/index.ts']],
    ['an import of the tests', "import { a } from '../../test/given.ts'", ['runtime/loop.ts imports ../test/given.ts']],
    ['an import of a tool', "import { a } from 'vitest'", ['runtime/loop.ts imports vitest, which is no dependency']],
  ])('sees %s', (_, text, found) => {
    expect(trespasses({ path: 'runtime/loop.ts', text }, three, ['zod'])).toEqual(found)
  })

  test('holds a decide.ts to pure files', () => {
    const text = "import { plan } from '../../runtime/plan.ts'\nimport { carryOut } from '../../runtime/reconcile.ts'"
    expect(trespasses({ path: 'controllers/captcluster/decide.ts', text }, three, [])).toEqual([
      'controllers/captcluster/decide.ts imports runtime/reconcile.ts, which is not pure',
    ])
  })
})

test('every path that ARCHITECTURE.md tells to touch exists', () => {
  const paths = rowsUnder('## To add something, touch these files').flatMap(([, touch = '']) =>
    [...touch.matchAll(/`([^`]+)`/g)]
      .map(([, path = '']) => path)
      .filter((path) => !/^(make|go) |^##$|^go\.mod$/.test(path)),
  )
  expect(paths.length).toBeGreaterThan(10)
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([])
})

// What a file imports that it may not.
function trespasses({ path, text }: SourceFile, house: Rooms, dependencies: readonly string[]): string[] {
  const room = path.split('/')[0] ?? ''
  const allowed = new Set([room, ...(house[room]?.mayImport ?? [])])
  const isJudge = path.endsWith('/decide.ts')
  return importsOf(text).flatMap((target) => {
    if (target.startsWith('node:')) return isJudge ? [`${path} imports ${target}, which is not pure`] : []
    if (!target.startsWith('.')) {
      const isDependency = dependencies.some((name) => target === name || target.startsWith(`${name}/`))
      return isDependency ? [] : [`${path} imports ${target}, which is no dependency`]
    }
    const found = join(dirname(path), target)
    if (found === '../package.json') return []
    if (!allowed.has(found.split('/')[0] ?? '')) return [`${path} imports ${found}`]
    const isImpure = /^(kube|runtime)\//.test(found) && found !== 'runtime/plan.ts'
    return isJudge && isImpure ? [`${path} imports ${found}, which is not pure`] : []
  })
}

function importsOf(text: string): string[] {
  const form = /(?:\bfrom\s*|\bimport\s*\(\s*|\bimport\s+)'([^']+)'/g
  return [...text.matchAll(form)].map(([, target = '']) => target)
}

// The cells of the first table under a heading of the page, without its head.
function rowsUnder(heading: string): string[][] {
  const section = page.split(`${heading}\n`)[1]?.split('\n## ')[0] ?? ''
  return section
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .slice(2)
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
}
