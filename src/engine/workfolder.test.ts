import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { aFolder } from '../../test/folder.ts'
import type { Inputs } from './inputs.ts'
import { forgetGroup, noteGroup } from './leftrunning.ts'
import type { Furnished, Ran } from './terraform.ts'
import { clear, type Furnishing, foldersOf, furnish, noteRun, readCutOff } from './workfolder.ts'

const uid = '42180608-1506-4965-b46d-0ba23170ca4b'
const usual: Inputs = {
  files: { 'main.tf': '# module' },
  env: {},
  varArgs: [],
  hasBackendFile: false,
  usesPluginCache: true,
  isLogged: false,
  secrets: [],
}
const done: Ran = { code: 0, out: '', err: '', ended: 'byItself' }

type Tree = Readonly<Record<string, string | { readonly link: string }>>

// A root of work folders, and a loader that brings what is in `remote`.
function aRoot() {
  const root = aFolder()
  const world: { remote: Tree; dir: string; failure: string | undefined } = {
    remote: { 'main.tf': '# remote' },
    dir: '',
    failure: undefined,
  }
  const loads: Furnished[] = []
  const load = async (where: Furnished): Promise<Ran> => {
    loads.push(where)
    if (world.failure !== undefined) return { ...done, code: 1, err: `Error: ${world.failure}\n` }
    const modules = join(where.folder, '.terraform/modules')
    for (const [path, of] of Object.entries(world.remote)) {
      mkdirSync(join(modules, 'module', path, '..'), { recursive: true })
      if (typeof of === 'string') writeFileSync(join(modules, 'module', path), of)
      else symlinkSync(of.link, join(modules, 'module', path))
    }
    const Modules = [
      { Key: '', Dir: '.' },
      { Key: 'module', Dir: join('.terraform/modules/module', world.dir) },
    ]
    writeFileSync(join(modules, 'modules.json'), JSON.stringify({ Modules }))
    return done
  }
  const furnished = async (inputs: Partial<Inputs> = {}, differences: Partial<Furnishing> = {}) =>
    furnish({
      root,
      uid,
      inputs: { ...usual, ...inputs },
      said: {},
      workspace: 'team.net',
      cli: 'tofu 1.12.6',
      pluginCache: join(root, 'plugins'),
      given: {},
      ours: {},
      load,
      ...differences,
    })
  const from = (address: string, isPulledAlways = true): Partial<Inputs> => ({
    files: {},
    remote: { from: 'address', address, isPulledAlways },
  })
  return { root, world, loads, furnished, from }
}

test('a work folder holds the files, and credentials that are not of the module apart from it', async () => {
  const { furnished, root } = aRoot()
  const files = { ...usual.files, 'aws.ini': 'keys', '.git-credentials': 'git', '.terraformrc': 'rc' }
  const { folder, env, workspace, secrets } = await furnished({ files, secrets: ['hush'] })
  expect(folder).toBe(join(root, uid, 'module'))
  expect(readdirSync(folder).toSorted()).toEqual(['aws.ini', 'main.tf'])
  const home = env['HOME'] ?? ''
  expect(readFileSync(join(home, '.git-credentials'), 'utf8')).toBe('git')
  for (const file of [join(folder, 'aws.ini'), join(home, '.git-credentials'), join(home, '.terraformrc')])
    expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(statSync(join(root, uid)).mode & 0o777).toBe(0o700)
  expect(existsSync(env['TF_PLUGIN_CACHE_DIR'] ?? '')).toBe(true)
  expect([workspace, secrets]).toEqual(['team.net', ['hush']])
})

test('credentials that are no longer given are gone', async () => {
  const { furnished } = aRoot()
  await furnished({ files: { ...usual.files, '.git-credentials': 'git', 'aws.ini': 'keys' } })
  const { folder, env } = await furnished()
  expect([readdirSync(folder), readdirSync(env['HOME'] ?? '')]).toEqual([['main.tf'], []])
})

test('the checksum is the one that Crossplane’s provider would reckon', async () => {
  const { furnished } = aRoot()
  const files = { ...usual.files, 'crossplane-provider-config.tf': 'x', 'crossplane-provider-terraform-0.tfvars': 'y' }
  const { folder, checksum } = await furnished({ files })
  const command = "find . -type f -exec md5sum {} + | LC_ALL=C sort | md5sum | awk '{print $1}'"
  expect(checksum).toBe(execFileSync('sh', ['-c', command], { cwd: folder, encoding: 'utf8' }).trim())
  expect((await furnished()).checksum).not.toBe(checksum)
})

describe('whether a folder is initialised', () => {
  const again = { files: { ...usual.files, 'crossplane-provider-terraform-0.tfvars': 'x = 2' } }
  test.each<[string, Partial<Inputs>, Partial<Furnishing>, boolean]>([
    ['nothing changed', {}, {}, true],
    ['variables changed', again, {}, true],
    ['the module changed', { files: { 'main.tf': '# other' } }, {}, false],
    ['a file more is there', { files: { ...usual.files, 'more.tf': '' } }, {}, false],
    ['the backend has a file', { hasBackendFile: true }, {}, false],
    ['init is told something else', {}, { said: { initArgs: ['-upgrade'] } }, false],
    ['plan is told something else', {}, { said: { planArgs: ['-refresh=false'] } }, true],
    ['the environment changed', { env: { A: 'b' } }, {}, false],
    ['there is another command line', {}, { cli: 'terraform 1.5.7' }, false],
  ])('when %s', async (_, inputs, differences, isInitialised) => {
    const { furnished } = aRoot()
    const first = await furnished()
    expect(first.isInitialised).toBe(false)
    expect((await furnished()).isInitialised).toBe(false)
    await first.noteInitialised()
    expect((await furnished(inputs, differences)).isInitialised).toBe(isInitialised)
    // After another init was tried, nothing is known.
    expect((await furnished()).isInitialised).toBe(isInitialised)
  })

  test('it is not when what init made is gone', async () => {
    const { furnished } = aRoot()
    const first = await furnished()
    mkdirSync(join(first.folder, '.terraform'))
    await first.noteInitialised()
    expect((await furnished()).isInitialised).toBe(true)
    rmSync(join(first.folder, '.terraform'), { recursive: true })
    expect((await furnished()).isInitialised).toBe(false)
  })
})

describe('a remote module', () => {
  test('has our files beside its own, and ours win', async () => {
    const { world, furnished, from } = aRoot()
    world.remote = { 'main.tf': '# remote', 'crossplane-provider-config.tf': '# theirs', 'sub/x.tf': '', '.git/x': '' }
    const { folder } = await furnished({ ...from('a'), files: { 'crossplane-provider-config.tf': '# ours' } })
    expect(readdirSync(folder).toSorted()).toEqual(['crossplane-provider-config.tf', 'main.tf', 'sub'])
    expect(readFileSync(join(folder, 'crossplane-provider-config.tf'), 'utf8')).toBe('# ours')
  })

  test('brings no state along: it would be taken for ours', async () => {
    const { world, furnished, from } = aRoot()
    const states = ['errored.tfstate', 'terraform.tfstate', 'terraform.tfstate.backup', 'sub/errored.tfstate']
    const others = ['main.tf', 'sub/x.tf', 'fixtures/my.tfstate']
    const all = [...states, ...others, 'terraform.tfstate.d/team.net/terraform.tfstate']
    world.remote = Object.fromEntries(all.map((path) => [path, '{}']))
    const { folder } = await furnished(from('a'))
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    const found = entries.map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
    expect(found.toSorted()).toEqual(others.toSorted())
  })

  test('is loaded by its address as it is, with the environment of the commands', async () => {
    const { furnished, from, loads, root } = aRoot()
    const seen: string[] = []
    const load = async (where: Furnished): Promise<Ran> => {
      seen.push(readFileSync(join(where.folder, 'main.tf.json'), 'utf8'))
      loads.push(where)
      return { ...done, code: 1 }
    }
    await furnished({ ...from('git::https://x//${a}?ref=%{b}'), env: { A: 'b' }, secrets: ['hush'] }, { load }).catch(
      () => {},
    )
    expect(seen).toEqual([JSON.stringify({ module: { module: { source: 'git::https://x//$${a}?ref=%%{b}' } } })])
    expect(loads[0]).toMatchObject({ env: { A: 'b' }, secrets: ['hush'] })
    expect(existsSync(join(root, uid, 'scratch'))).toBe(false)
  })

  test('runs in the folder its address names, and below that at its entrypoint', async () => {
    const { world, furnished, from } = aRoot()
    world.remote = { 'sub/deep/main.tf': '', 'other/main.tf': '' }
    world.dir = 'sub'
    const { folder } = await furnished({ ...from('a//sub'), entrypoint: 'deep', files: { 'creds.json': 'x' } })
    expect(folder.endsWith('/module/sub/deep')).toBe(true)
    expect(readdirSync(folder).toSorted()).toEqual(['creds.json', 'main.tf'])
  })

  test.each<[string, Tree, string, string]>([
    ['that is not there', { 'main.tf': '' }, 'sub', 'the module has no folder sub: correct entrypoint'],
    ['that begins like one that is', { 'submarine/main.tf': '' }, 'sub', 'the module has no folder sub'],
    ['that is a link out of it', { sub: { link: '/etc' } }, 'sub', 'links sub to a place outside of it'],
    ['beside a link out of it', { 'main.tf': '', leak: { link: '../../..' } }, '', 'links leak to a place outside'],
  ])('with an entrypoint %s is refused', async (_, remote, entrypoint, says) => {
    const { world, furnished, from } = aRoot()
    world.remote = remote
    await expect(furnished({ ...from('a'), entrypoint })).rejects.toThrow(says)
  })

  test('with an entrypoint that is a link within it runs where that leads', async () => {
    const { world, furnished, from } = aRoot()
    world.remote = { 'v2/main.tf': '', current: { link: 'v2' } }
    const { folder } = await furnished({ ...from('a'), entrypoint: 'current', files: { 'creds.json': 'x' } })
    expect(readdirSync(folder).toSorted()).toEqual(['creds.json', 'main.tf'])
  })

  test('is pulled when it must be', async () => {
    const { world, furnished, from, loads } = aRoot()
    const first = await furnished(from('a', false))
    world.remote = { 'new.tf': '' }
    expect(await furnished(from('a', false))).toMatchObject({ checksum: first.checksum })
    expect(loads).toHaveLength(1)
    const { folder, checksum } = await furnished(from('a'))
    expect(checksum).not.toBe(first.checksum)
    expect(readdirSync(folder)).toEqual(['new.tf'])
    await furnished(from('b', false))
    expect(loads).toHaveLength(3)
  })

  test('stays as it is when another cannot be had, which is told as the provider tells it', async () => {
    const { world, furnished, from, loads } = aRoot()
    const { folder, checksum } = await furnished(from('a'))
    world.failure = 'no route'
    const told = 'cannot get remote Terraform module: Terraform encountered an error. Summary: no route. To see'
    await expect(furnished(from('a'))).rejects.toThrow(told)
    await expect(furnished(from('b'))).rejects.toThrow(told)
    expect(readFileSync(join(folder, 'main.tf'), 'utf8')).toBe('# remote')
    expect(await furnished(from('a', false))).toMatchObject({ checksum })
    expect(loads).toHaveLength(3)
  })

  test('that was coming when the engine was killed comes again', async () => {
    const { root, furnished, from, loads } = aRoot()
    await furnished(from('a', false))
    renameSync(join(root, uid, 'package'), join(root, uid, 'leaving'))
    for (const half of ['arriving/files', 'scratch/.terraform/modules/module']) {
      mkdirSync(join(root, uid, half), { recursive: true })
      writeFileSync(join(root, uid, half, 'half.tf'), '')
    }
    const { folder } = await furnished(from('a', false))
    expect([readdirSync(folder), loads.length]).toEqual([['main.tf'], 2])
    mkdirSync(join(root, uid, 'leaving/files'), { recursive: true })
    await furnished(from('b'))
    expect(readdirSync(join(root, uid)).toSorted()).toEqual(['home', 'module', 'package', 'placed.json', 'run', 'tmp'])
  })

  test('is replaced by an inline one', async () => {
    const { furnished, from } = aRoot()
    await furnished(from('a'))
    const { folder } = await furnished()
    expect(readFileSync(join(folder, 'main.tf'), 'utf8')).toBe('# module')
  })
})

test('a folder in which a command of an earlier life still runs is not touched', async () => {
  const { furnished, root } = aRoot()
  const { beside, folder } = await furnished()
  await noteGroup(beside, process.pid)
  await expect(furnished({ files: {} })).rejects.toThrow('a command of an earlier life of the engine is still ending')
  expect(readdirSync(folder)).toEqual(['main.tf'])
  writeFileSync(join(beside, 'running'), `${process.pid} 1`) // the number is another’s by now
  await furnished()
  await forgetGroup(beside)
  expect(existsSync(join(root, uid))).toBe(true)
})

test('what an apply printed that was cut off is there for the next life, and nothing else of it', async () => {
  const { furnished, root } = aRoot()
  const { beside } = await furnished()
  expect(await readCutOff(root, uid, 'then')).toBeUndefined()
  await noteRun(root, uid, 'then')
  writeFileSync(join(beside, 'apply.out'), 'a: Creating...\n')
  for (const name of ['plan', 'output.out']) writeFileSync(join(beside, name), 'hush')
  writeFileSync(join(root, uid, 'tmp', 'left'), 'hush')
  await furnished()
  expect(await readCutOff(root, uid, 'then')).toBe('a: Creating...\n')
  expect([readdirSync(beside), readdirSync(join(root, uid, 'tmp'))]).toEqual([['apply.out', 'begun'], []])
})

test('folders are listed by uid, and cleared', async () => {
  const { furnished, root } = aRoot()
  expect(await foldersOf(join(root, 'nowhere'))).toEqual([])
  await furnished()
  expect(await foldersOf(root)).toEqual([uid]) // and not the cache
  await clear(root, uid)
  await clear(root, uid)
  expect(await foldersOf(root)).toEqual([])
})

test.each(['../x', '', '.', 'plugins'])('%j is no uid, and nothing is made or cleared by it', async (bad) => {
  const { furnished, root } = aRoot()
  await expect(furnished({}, { uid: bad })).rejects.toThrow('is not the uid of an object')
  await expect(clear(root, bad)).rejects.toThrow('is not the uid of an object')
})

test('a disk without room is told as such, and healed when there is room', async () => {
  const { root, furnished } = aRoot()
  const fixture = join(import.meta.dirname, 'workfolder.fixture.ts')
  const limited = 'trap \'\' XFSZ; ulimit -f 200; exec "$@"'
  const said = execFileSync('sh', ['-c', limited, 'sh', process.execPath, fixture, root], { encoding: 'utf8' })
  expect(said).toBe(`Error: cannot furnish a work folder in ${root}: a file would be too large (EFBIG)\n`)
  const { folder } = await furnished()
  expect(readFileSync(join(folder, 'main.tf'), 'utf8')).toBe('# module')
})
