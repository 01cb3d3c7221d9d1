// Terraform by its command line, with the real OpenTofu: a whole life, and what can go wrong in it.
import { execFileSync, spawn } from 'node:child_process'
import { hash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { theBed } from '../../test/bed/story.ts'
import { virtualClock } from '../../test/clock.ts'
import { aFolder } from '../../test/folder.ts'
import { until } from '../../test/until.ts'
import { realParts } from '../../tools/workshop.ts'
import type { ForProvider } from '../api/workspace.ts'
import { tellFailure } from '../terraform/failureform.ts'
import { type Binary, findTerraform } from './binary.ts'
import { createCommandLine } from './commandline.ts'
import type { Inputs } from './inputs.ts'
import { dropPlan, furnish } from './workfolder.ts'

const uid = '42180608-1506-4965-b46d-0ba23170ca4b'
let tofu: Binary

beforeAll(async () => {
  const parts = await realParts(['tofu'])
  tofu = await findTerraform(parts.tofu, {})
})

interface Given {
  readonly module?: string
  readonly inputs?: Partial<Inputs>
  readonly said?: Partial<ForProvider>
  readonly root?: string
}

// A Workspace of an inline module, with everything real but the clock.
async function anEngine(env: Readonly<Record<string, string>> = {}) {
  const root = aFolder()
  const clock = virtualClock()
  const stopping = new AbortController()
  const cli = createCommandLine({ ...tofu, timeoutMs: 90_000, clock, stopping: stopping.signal })
  const furnished = async ({ module, inputs = {}, said = {} }: Given) =>
    furnish({
      root,
      uid,
      inputs: {
        env: {},
        varArgs: [],
        hasBackendFile: false,
        usesPluginCache: false,
        isLogged: false,
        secrets: [],
        ...inputs,
        files: { ...(module !== undefined && { 'main.tf': module }), ...inputs.files },
      },
      said,
      workspace: 'team.net',
      cli: `${tofu.family} ${tofu.version}`,
      pluginCache: join(root, 'plugins'),
      given: env,
      ours: { PATH: process.env['PATH'] },
      load: cli.get,
    })
  const applied = async (given: Given) => {
    const where = await furnished(given)
    expect(await cli.init(where)).toMatchObject({ code: 0 })
    expect(await cli.plan(where)).toMatchObject({ code: 2 })
    expect(await cli.apply(where)).toMatchObject({ code: 0 })
    return where
  }
  return { root, clock, cli, stop: () => stopping.abort(), furnished, applied }
}

const said = (text: string): unknown => expect.stringContaining(text)

const echo = `
variable "name" { type = string }
variable "token" {
  type      = string
  sensitive = true
}
resource "terraform_data" "it" { input = var.name }
output "name" { value = terraform_data.it.output }
output "token" {
  value     = var.token
  sensitive = true
}
`
const vars = (name: string): Partial<Inputs> => ({
  files: { 'a.tfvars.json': JSON.stringify({ token: 'hush-token' }) },
  varArgs: [`-var=name=${name}`, '-var-file=a.tfvars.json'],
})

test('a life: init, plan, apply, outputs, nothing to do, a change, destroy, and the workspace forgotten', async () => {
  const { cli, furnished } = await anEngine()
  const where = await furnished({ module: echo, inputs: vars('one') })
  expect(where.isInitialised).toBe(false)
  expect(await cli.init(where)).toMatchObject({ code: 0, ended: 'byItself' })
  await where.noteInitialised()

  expect(await cli.plan(where)).toMatchObject({ code: 2 })
  const shown = JSON.parse((await cli.showPlan(where)).out) as { resource_changes: { address: string }[] }
  expect(shown.resource_changes.map(({ address }) => address)).toEqual(['terraform_data.it'])
  expect(await cli.apply(where)).toMatchObject({ code: 0, out: said('1 added') })
  expect(JSON.parse((await cli.outputs(where)).out)).toEqual({
    name: { sensitive: false, type: 'string', value: 'one' },
    token: { sensitive: true, type: 'string', value: 'hush-token' },
  })
  expect(existsSync(join(where.folder, 'terraform.tfstate.d', 'team.net', 'terraform.tfstate'))).toBe(true)

  const again = await furnished({ module: echo, inputs: vars('one') })
  expect(again).toMatchObject({ isInitialised: true, checksum: where.checksum })
  expect(await cli.plan(again)).toMatchObject({ code: 0 })

  const changed = await furnished({ module: echo, inputs: vars('two') })
  expect(changed.isInitialised).toBe(true)
  expect(await cli.plan(changed)).toMatchObject({ code: 2 })
  expect(await cli.apply(changed)).toMatchObject({ code: 0, out: said('1 changed') })

  expect(await cli.destroy(changed)).toMatchObject({ code: 0, out: said('1 destroyed') })
  expect(await cli.forget(changed)).toMatchObject({ code: 0 })
  expect(existsSync(join(where.folder, 'terraform.tfstate.d', 'team.net'))).toBe(false)
})

test('between two commands nothing they printed is left, after a pass nothing they planned, and what they need is ours alone to read', async () => {
  const { cli, applied, root } = await anEngine()
  const where = await applied({ module: echo, inputs: vars('one') })
  await cli.outputs(where)
  expect(readdirSync(where.beside)).toEqual(['plan'])
  await dropPlan(root, uid)
  expect(readdirSync(where.beside)).toEqual([])
  for (const file of ['main.tf', 'a.tfvars.json']) expect(statSync(join(where.folder, file)).mode & 0o777).toBe(0o600)
  expect(statSync(join(root, uid)).mode & 0o777).toBe(0o700)
})

test('a plan that fails is told as the provider tells it', async () => {
  const { cli, furnished } = await anEngine()
  const where = await furnished({ module: echo, inputs: { ...vars('x'), varArgs: ['-var-file=a.tfvars.json'] } })
  await cli.init(where)
  const ran = await cli.plan(where)
  expect(ran).toMatchObject({ code: 1, ended: 'byItself' })
  expect(tellFailure('plan', ran)).toContain('Summary: No value for required variable. To see')
  expect(readdirSync(where.beside)).toEqual([])
})

test('an output of a megabyte arrives whole, whatever else is printed', async () => {
  const { cli, applied } = await anEngine()
  const noise = "head -c 3000000 /dev/zero | tr '\\\\0' x | fold -w 100"
  const where = await applied({
    module: `
resource "terraform_data" "loud" {
  provisioner "local-exec" { command = "${noise}" }
}
output "large" { value = join("", [for each in range(1024) : "${'0123456789abcdef'.repeat(64)}"]) }
`,
  })
  const { large } = JSON.parse((await cli.outputs(where)).out) as { large: { value: string } }
  expect(large.value).toHaveLength(2 ** 20)
})

test('what hangs is interrupted when its time is up, and the state is kept and free', async () => {
  const { cli, clock, furnished } = await anEngine()
  const module = `
resource "terraform_data" "quick" {}
resource "terraform_data" "slow" {
  depends_on = [terraform_data.quick]
  provisioner "local-exec" { command = "echo begun; sleep 600" }
}
`
  const where = await furnished({ module })
  await cli.init(where)
  await cli.plan(where)
  const running = cli.apply(where)
  const log = join(where.beside, 'apply.out')
  await until('it hangs', async () => readFileSync(log, 'utf8').includes('local-exec): begun') || undefined, {
    withinSeconds: 60,
  })
  await clock.advance(90_000)
  expect(await running).toMatchObject({ code: 1, ended: 'timeout' })
  const state = JSON.parse(
    readFileSync(join(where.folder, 'terraform.tfstate.d/team.net/terraform.tfstate'), 'utf8'),
  ) as { resources: { name: string }[] }
  expect(state.resources.map(({ name }) => name)).toContain('quick')
  expect(await cli.destroy(where)).toMatchObject({ code: 0 })
})

test('a lock that a killed apply left in the cluster is released by its id', async () => {
  const { kube, kubeconfig, ...bed } = theBed()
  const { cli, applied, furnished } = await anEngine({ KUBE_CONFIG_PATH: kubeconfig })
  const namespace = await bed.namespace('lock')
  const configuration = `terraform {\n  backend "kubernetes" {\n    secret_suffix = "capt"\n    namespace     = "${namespace}"\n  }\n}`
  const files = { 'crossplane-provider-config.tf': configuration }
  const one = await applied({ module: 'resource "terraform_data" "one" {}', inputs: { files } })

  const slow = 'resource "terraform_data" "two" {\n  provisioner "local-exec" { command = "echo begun; sleep 600" }\n}'
  const where = await furnished({ module: slow, inputs: { files } })
  await cli.plan(where)
  const running = cli.apply(where)
  const log = join(where.beside, 'apply.out')
  await until('it runs', async () => readFileSync(log, 'utf8').includes('local-exec): begun') || undefined, {
    withinSeconds: 60,
  })
  const leader = await leaderIn(where.beside)
  process.kill(-leader, 'SIGKILL')
  expect(await running).toMatchObject({ code: 137, ended: 'byItself' })

  expect(tellFailure('destroy', await cli.destroy(where))).toContain('Summary: Error acquiring the state lock.')
  const leases = await kube.list('coordination.k8s.io/v1', 'Lease', namespace)
  const held = leases.map(({ spec }) => (spec as { holderIdentity?: string }).holderIdentity).filter(Boolean)
  expect(held).toHaveLength(1)
  expect(await cli.unlock(where, held[0] ?? '')).toMatchObject({ code: 0 })
  expect(await cli.destroy(where)).toMatchObject({ code: 0 })
  expect(await cli.forget(one)).toMatchObject({ code: 0 })
})

test('options of planning that are written among those of applying work', async () => {
  const { cli, applied } = await anEngine()
  const module = 'resource "terraform_data" "a" {}\nresource "terraform_data" "b" {}'
  const where = await applied({ module, said: { applyArgs: ['-target', 'terraform_data.a', '-parallelism=1'] } })
  expect(await cli.plan({ ...where, args: { ...where.args, plan: [] } })).toMatchObject({
    code: 2,
    out: said('terraform_data.b'),
  })
})

test('a backend file and a ProviderConfig’s configuration are used', async () => {
  const { furnished, cli } = await anEngine()
  const where = await furnished({
    module: 'resource "terraform_data" "a" {}',
    inputs: {
      files: {
        'crossplane-provider-config.tf': 'terraform {\n  backend "local" {}\n}',
        'crossplane.remote.tfbackend': 'workspace_dir = "elsewhere"',
      },
      hasBackendFile: true,
    },
  })
  expect(await cli.init(where)).toMatchObject({ code: 0 })
  await cli.plan(where)
  await cli.apply(where)
  expect(existsSync(join(where.folder, 'elsewhere/team.net/terraform.tfstate'))).toBe(true)
})

test('no secret is in an argument, and none in the environment that nobody asked for', async () => {
  const { cli, furnished, stop } = await anEngine()
  const module = `${echo}\nresource "terraform_data" "slow" {\n  provisioner "local-exec" { command = "echo begun; sleep 600" }\n}`
  const where = await furnished({ module, inputs: { ...vars('one'), env: { ASKED: 'hush-env' } } })
  await cli.init(where)
  await cli.plan(where)
  const running = cli.apply(where)
  const log = join(where.beside, 'apply.out')
  await until('it runs', async () => readFileSync(log, 'utf8').includes('local-exec): begun') || undefined, {
    withinSeconds: 60,
  })
  const leader = await leaderIn(where.beside)
  const group = membersOf(leader)
  expect(group.length).toBeGreaterThan(2) // shell, watcher, tofu, provisioner
  for (const pid of group) {
    expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).not.toContain('hush')
    const names = readFileSync(`/proc/${pid}/environ`, 'utf8')
      .split('\0')
      .filter(Boolean)
      .map((each) => each.split('=')[0])
    const known = ['ASKED', 'PATH', 'HOME', 'TMPDIR', 'TF_IN_AUTOMATION', 'TF_INPUT', 'CHECKPOINT_DISABLE']
    const others = ['GIT_TERMINAL_PROMPT', 'TF_WORKSPACE', 'PWD', 'OLDPWD', '_', 'SHLVL']
    expect([...known, ...others]).toEqual(expect.arrayContaining(names))
  }
  stop()
  expect(await running).toMatchObject({ ended: 'stopped' })
})

// Which group a command is in, as it is noted soon after it began.
async function leaderIn(beside: string): Promise<number> {
  const noted = async () => /^(\d+) \d+$/.exec(readFileSync(join(beside, 'running'), 'utf8'))?.[1]
  return Number(await until('its group is noted', noted))
}

function membersOf(group: number): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
        const [state, , itsGroup] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
        return Number(itsGroup) === group && state !== 'Z' ? [Number(name)] : []
      } catch {
        return []
      }
    })
}

test('when the engine is killed during an apply, OpenTofu ends by itself with its state written and its lock free', async () => {
  const { cli, furnished } = await anEngine()
  const module = `
resource "terraform_data" "quick" {}
resource "terraform_data" "slow" {
  depends_on = [terraform_data.quick]
  provisioner "local-exec" { command = "echo begun; sleep 600" }
}
`
  const where = await furnished({ module })
  await cli.init(where)
  const fixture = join(import.meta.dirname, 'cli.fixture.ts')
  const args = [fixture, where.folder, tofu.program, 'apply', '-auto-approve', '-input=false', '-no-color']
  const engine = spawn(process.execPath, args, { stdio: 'ignore' })
  onTestFinished(() => {
    engine.kill('SIGKILL')
  })
  const log = join(where.folder, 'apply.out')
  const hasSaid = (word: string) => existsSync(log) && readFileSync(log, 'utf8').includes(word)
  await until('it hangs', async () => hasSaid('local-exec): begun') || undefined, { withinSeconds: 60 })
  const leader = await leaderIn(where.folder)
  engine.kill('SIGKILL')
  await once(engine, 'exit')
  const gone = async () => {
    const left = membersOf(leader).map((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' '))
    if (left.length > 0) throw new Error(`still there: ${left.join('; ')}; it said ${readFileSync(log, 'utf8')}`)
    return true
  }
  await until('it has ended', gone, { withinSeconds: 50 }) // not killed after a minute
  const state = JSON.parse(readFileSync(join(where.folder, 'terraform.tfstate'), 'utf8')) as { resources: object[] }
  expect(state.resources.length).toBeGreaterThan(0)
  expect(existsSync(join(where.folder, '.terraform.tfstate.lock.info'))).toBe(false)
  expect(hasSaid('terraform_data.slow: Creating...')).toBe(true)
})

// What is packed into a message.
function unpacked(message: string): string {
  return gunzipSync(Buffer.from(/echo "([^"]*)"/.exec(message)?.[1] ?? '', 'base64')).toString()
}

describe('a remote module', () => {
  // A repository with a module, one that uses its neighbour, and a program.
  function aModule() {
    const folder = aFolder()
    const put = (path: string, text: string) => {
      mkdirSync(join(folder, path, '..'), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
    put('main.tf', 'output "from" { value = "top" }')
    put('uses/main.tf', 'module "it" {\n  source = "../neighbour"\n}\noutput "from" { value = module.it.from }')
    put('neighbour/main.tf', 'output "from" { value = "neighbour" }')
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: folder, stdio: 'pipe' })
    git('init', '-q')
    git('add', '-A')
    git('commit', '-qm', 'module')
    const change = (text: string) => {
      put('main.tf', text)
      git('commit', '-qam', 'changed')
    }
    return { folder, change }
  }

  async function serving(files: Readonly<Record<string, Buffer>>): Promise<string> {
    const server = createServer((request, answer) => {
      const file = files[request.url?.split('?')[0] ?? '']
      answer.writeHead(file ? 200 : 404).end(file)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => {
      server.close()
    })
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  const remote = (address: string, isPulledAlways = true): Partial<Inputs> => ({
    remote: { from: 'address', address, isPulledAlways },
  })

  async function outcome(engine: Awaited<ReturnType<typeof anEngine>>, inputs: Partial<Inputs>) {
    const where = await engine.applied({ inputs })
    return (JSON.parse((await engine.cli.outputs(where)).out) as { from: { value: string } }).from.value
  }

  test.each<[string, (folder: string) => string, string, string]>([
    ['from git', (folder) => `git::file://${folder}`, '', 'top'],
    ['from a folder of git, with its neighbour', (folder) => `git::file://${folder}//uses`, '', 'neighbour'],
    ['from git, by an entrypoint', (folder) => `git::file://${folder}`, 'uses', 'neighbour'],
    ['from a path', (folder) => folder, '', 'top'],
    ['from a folder of a path', (folder) => `${folder}//uses`, '', 'neighbour'],
  ])('%s', async (_, addressOf, entrypoint, from) => {
    const { folder } = aModule()
    expect(await outcome(await anEngine(), { ...remote(addressOf(folder)), entrypoint })).toBe(from)
    expect(existsSync(join(folder, '.terraform'))).toBe(false)
  })

  test('from an archive over HTTP', async () => {
    const { folder } = aModule()
    const archive = execFileSync('tar', ['czf', '-', '--exclude=.git', '.'], { cwd: folder })
    const url = await serving({ '/module.tar.gz': archive })
    expect(await outcome(await anEngine(), remote(`${url}/module.tar.gz`))).toBe('top')
  })

  test.each(['gnu', 'pax', 'ustar'])('from Flux, packed as %s', async (format) => {
    const { folder } = aModule()
    const long = `a-long-name-of-a-folder/${'deep/'.repeat(12)}`
    mkdirSync(join(folder, long), { recursive: true })
    writeFileSync(join(folder, long, `${'x'.repeat(60)}.txt`), 'found')
    const archive = execFileSync('tar', ['czf', '-', `--format=${format}`, '--exclude=.git', '.'], { cwd: folder })
    const url = `${await serving({ '/a.tar.gz': archive })}/a.tar.gz`
    const inputs: Partial<Inputs> = {
      remote: { from: 'artifact', url, digest: `sha256:${hash('sha256', archive, 'hex')}` },
      entrypoint: 'uses',
    }
    const engine = await anEngine()
    expect(await outcome(engine, inputs)).toBe('neighbour')
    const { folder: where } = await engine.furnished({ inputs })
    expect(readFileSync(join(where, '..', long, `${'x'.repeat(60)}.txt`), 'utf8')).toBe('found')
  })

  test('is pulled again at every pass, or only when its address changed', async () => {
    const { folder, change } = aModule()
    const engine = await anEngine()
    const address = `git::file://${folder}`
    const first = await engine.furnished({ inputs: remote(address) })
    change('output "from" { value = "changed" }')
    const kept = await engine.furnished({ inputs: remote(address, false) })
    expect(kept.checksum).toBe(first.checksum)
    const pulled = await engine.furnished({ inputs: remote(address) })
    expect(pulled.checksum).not.toBe(first.checksum)
    expect(readFileSync(join(pulled.folder, 'main.tf'), 'utf8')).toContain('changed')
    const other = await engine.furnished({ inputs: remote(`${address}//uses`, false) })
    expect(other.folder.endsWith('/module/uses')).toBe(true)
  })

  test('that cannot be had is told, without secrets, and what was there stays', async () => {
    const { folder } = aModule()
    const engine = await anEngine()
    const address = `git::file://${folder}`
    const first = await engine.furnished({ inputs: remote(address) })
    rmSync(folder, { recursive: true })
    mkdirSync(folder)
    const told = await engine
      .furnished({ inputs: { ...remote(`${address}?ref=hush-branch`), secrets: ['hush-branch'] } })
      .then(() => 'it was had', String)
    expect(told).toMatch(/^InputsError: cannot get remote Terraform module: Terraform encountered an error\. Summary: /)
    expect(told + unpacked(told)).not.toContain('hush')
    expect(readFileSync(join(first.folder, 'main.tf'), 'utf8')).toContain('top')
    const kept = await engine.furnished({ inputs: remote(address, false) })
    expect(kept.checksum).toBe(first.checksum)
  })

  test('needs its git credentials, which are in no argument', async () => {
    const { folder } = aModule()
    const seen: string[] = []
    const server = createServer((request, answer) => {
      seen.push(request.headers.authorization ?? 'nobody')
      answer.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end()
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => {
      server.close()
    })
    const { port } = server.address() as AddressInfo
    const engine = await anEngine()
    const files = { '.git-credentials': `http://me:hush@127.0.0.1:${port}\n` }
    await expect(
      engine.furnished({ inputs: { ...remote(`git::http://127.0.0.1:${port}${folder}`), files } }),
    ).rejects.toThrow('cannot get remote Terraform module')
    expect(seen).toContain(`Basic ${Buffer.from('me:hush').toString('base64')}`)
  })
})

test('a state that could not be written where it belongs is left in the folder, and pushed from there', async () => {
  const { cli, applied, furnished } = await anEngine()
  const where = await applied({ module: echo, inputs: vars('one') })
  const stateFile = join(where.folder, 'terraform.tfstate.d/team.net/terraform.tfstate')
  const after = await furnished({ module: echo, inputs: vars('two') })
  expect(await cli.plan(after)).toMatchObject({ code: 2 })
  const old = readFileSync(stateFile)
  expect(await cli.apply(after)).toMatchObject({ code: 0 })
  // As OpenTofu leaves it when its backend does not answer at the end.
  writeFileSync(join(where.folder, 'errored.tfstate'), readFileSync(stateFile))
  writeFileSync(stateFile, old)
  expect(await cli.push(after)).toMatchObject({ code: 0 })
  expect(existsSync(join(where.folder, 'errored.tfstate'))).toBe(false)
  expect(await cli.plan(await furnished({ module: echo, inputs: vars('two') }))).toMatchObject({ code: 0 })
})
