import { expect, test } from 'vitest'
import { runCommand, type TreeOptions } from './commands.ts'

async function run(...argv: string[]) {
  let [out, err] = ['', '']
  const called: { cluster: string; options: TreeOptions }[] = []
  const asked: [string, string, object][] = []
  const note = (what: string) => async (apply: string, options: object) => {
    asked.push([what, apply, options])
    return 0
  }
  const code = await runCommand({
    version: '1.2.3',
    argv,
    out: (text) => void (out += text),
    err: (text) => void (err += text),
    async tree(cluster, options) {
      called.push({ cluster, options })
      return 1
    },
    state: { list: note('list'), export: note('export'), restore: note('restore') },
    cleanUpMoved: async (options) => note('cleanup')('', options),
  })
  return { code, out, err, called, asked }
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

test.each<[string, object]>([
  ['list net -n team', {}],
  ['export net -n team', {}],
  ['export net -n team --at abc --output -', { at: 'abc', output: '-' }],
  ['restore net -n team --at latest --yes', { at: 'latest', yes: true }],
  ['restore net -n team --from f --force --secret a/b', { from: 'f', force: true, secret: 'a/b' }],
])('capt state %s', async (line, options) => {
  const { code, asked } = await run('state', ...line.split(' '))
  expect(asked).toEqual([[line.split(' ')[0], 'net', { namespace: 'team', ...options }]])
  expect(code).toBe(0)
})

test('capt cleanup moved', async () => {
  const { code, asked } = await run('cleanup', 'moved', '-n', 'team', '--yes')
  expect([code, asked]).toEqual([0, [['cleanup', '', { namespace: 'team', yes: true }]]])
})

test('a command of commands lists them, and each has its help', async () => {
  expect((await run('state', '--help')).out).toMatch(/^capt state: .*\n\nUsage: capt state COMMAND[^]*restore  put/)
  expect((await run('state', 'restore', '--help')).out).toMatch(/\n\nUsage: capt state restore APPLY \[flags\]/)
})

test.each<[string[], RegExp]>([
  [[], /^capt: .*\n\nUsage: /],
  [['three'], /^there is no command three.*\(see --help\)\n$/],
  [['--colour'], /^there is no flag --colour \(see --help\)\n$/],
  [['tree'], /^missing required argument 'cluster' \(see --help\)\n$/],
  [['tree', 'a', 'b'], /^too many arguments \(see --help\)\n$/],
  [['tree', 'a', '--colour'], /^there is no flag --colour.*\(see --help\)\n$/],
  [['tree', 'a', '--until', 'later'], /^option '--until <state>' argument 'later' is invalid/],
  [['state'], /^capt state: .*\n\nUsage: /],
  [['state', 'lost'], /^there is no command lost.*\(see --help\)\n$/],
  [['state', 'list'], /^missing required argument 'apply' \(see --help\)\n$/],
  [['state', 'restore', 'a', '--at', 'x', '--from', 'f'], /'--from <file>' cannot be used with option '--at <copy>'/],
  ...['foo', 'a/', '/b', 'a/b/c', ''].map((secret): [string[], RegExp] => [
    ['state', 'restore', 'a', '--from', 'f', '--secret', secret],
    /^option '--secret <namespace\/name>' argument '.*' is invalid\. Write it as NAMESPACE\/NAME\. \(see --help\)\n$/,
  ]),
  [['tree', 'a', '--namespace'], /^option '-n, --namespace <namespace>' argument missing/],
])('%j is not understood', async (argv, says) => {
  const { code, err, called, asked } = await run(...argv)
  expect(code).toBe(2)
  expect(err).toMatch(says)
  expect([called, asked]).toEqual([[], []])
})
