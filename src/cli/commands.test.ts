import { expect, test } from 'vitest'
import { runCommand, type TreeOptions } from './commands.ts'

async function run(...argv: string[]) {
  let [out, err] = ['', '']
  const called: { cluster: string; options: TreeOptions }[] = []
  const code = await runCommand({
    version: '1.2.3',
    argv,
    out: (text) => void (out += text),
    err: (text) => void (err += text),
    async tree(cluster, options) {
      called.push({ cluster, options })
      return 1
    },
  })
  return { code, out, err, called }
}

test('a command gets what it was given, and its exit code is that of the program', async () => {
  const { code, called } = await run(
    'tree',
    'demo',
    '-n',
    'team',
    '--watch',
    '--context',
    'c',
    '--kubeconfig',
    'f',
    '--no-color',
  )
  expect(code).toBe(1)
  expect(called).toEqual([
    { cluster: 'demo', options: { namespace: 'team', watch: true, context: 'c', kubeconfig: 'f', color: false } },
  ])
})

test('help and version are no trouble', async () => {
  expect(await run('--version')).toMatchObject({ code: 0, out: 'capt 1.2.3\n', err: '' })
  expect(await run('--help')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^capt: .*\n\nUsage: capt COMMAND/) as string,
  })
  expect(await run('tree', '--help')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^capt tree: .*\n\nUsage: capt tree CLUSTER/) as string,
  })
})

test.each<[string[], RegExp]>([
  [[], /^capt: .*\n\nUsage: /],
  [['three'], /^there is no command three.*\(see --help\)\n$/],
  [['--colour'], /^there is no flag --colour \(see --help\)\n$/],
  [['tree'], /^missing required argument 'cluster' \(see --help\)\n$/],
  [['tree', 'a', 'b'], /^too many arguments \(see --help\)\n$/],
  [['tree', 'a', '--colour'], /^there is no flag --colour.*\(see --help\)\n$/],
  [['tree', 'a', '--until', 'later'], /^option '--until <state>' argument 'later' is invalid/],
  [['tree', 'a', '--namespace'], /^option '-n, --namespace <namespace>' argument missing/],
])('%j is not understood', async (argv, says) => {
  const { code, err, called } = await run(...argv)
  expect(code).toBe(2)
  expect(err).toMatch(says)
  expect(called).toEqual([])
})
