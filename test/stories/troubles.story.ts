// What goes wrong around a run: each is told in a condition, nothing is lost, and all goes on when the trouble is over.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { KubeObject } from '../bed/kube.ts'
import { type ManagerProcess, seeReady } from '../bed/manager.ts'
import { type OwnEngines, startOwnEngines } from '../bed/own-engines.ts'
import { aWorkspace } from '../given.ts'
import { conditionOf, lockHolder, patience, seeConverged } from '../lives.ts'
import { until } from '../until.ts'

const namespace = 'default'
let own: OwnEngines
let engine: ManagerProcess
beforeAll(async () => {
  own = await startOwnEngines('troubles')
  engine = await own.start('engine', { flags: ['--timeout=25s'] })
}, 300_000)
// What it did is not judged with the rest: an API server that has just come back knows no roles yet, and forbids everything.
afterAll(async () => {
  await own?.home.end()
})

const seeTrouble = async (workspace: KubeObject, says: RegExp) =>
  own.kube.see(
    workspace,
    `says ${String(says)}`,
    (object) => says.test(conditionOf(object, 'Synced')?.message ?? ''),
    patience,
  )

// Writes into a diary that it is made, and then waits until it may go on.
function waitingModule(name: string) {
  const [diary, go] = ['diary', 'go'].map((each) => join(own.home.folder, `${name}.${each}`)) as [string, string]
  const module = `
resource "terraform_data" "it" {
  provisioner "local-exec" {
    command = "echo made >> ${diary}; until test -e ${go}; do sleep 0.2; done"
  }
}
`
  return {
    module,
    hasBegun: async () =>
      until(`the apply of ${name} runs`, async () => (existsSync(diary) ? true : undefined), patience),
    letGo: () => writeFileSync(go, ''),
    timesMade: () => readFileSync(diary, 'utf8').split('made').length - 1,
  }
}

test('a run that hangs is interrupted in good time, says so, and leaves no lock behind', async () => {
  const { module, hasBegun, letGo } = waitingModule('hanging')
  const hanging = aWorkspace({ namespace, name: 'hanging', module })
  await own.kube.apply(hanging)
  await hasBegun()
  const told = await seeTrouble(hanging, /^create failed: cannot apply /)
  expect(conditionOf(told, 'Synced')?.message).toContain(
    'Summary: it took longer than it may (--timeout) and was interrupted',
  )
  letGo()
  await seeConverged(own.kube, hanging)
  expect(await lockHolder(own.kube, 'hanging')).toBe('nobody')
}, 400_000)

test('a module that cannot be had is told in one line', async () => {
  const lost = {
    ...aWorkspace({ namespace, name: 'lost' }),
    spec: { forProvider: { source: 'Remote', module: '/nowhere/module' } },
  }
  await own.kube.apply(lost)
  const told = await seeTrouble(lost, /^connect failed: /)
  expect(conditionOf(told, 'Synced')?.message?.replaceAll(/echo "[^"]*"/g, 'echo "…"')).toMatchInlineSnapshot(
    `"connect failed: cannot get remote Terraform module: Terraform encountered an error. Summary: Failed to download module. To see the full error run: echo "…" | base64 -d | gunzip"`,
  )
  await own.kube.patch(lost, { spec: { forProvider: { source: 'Inline', module: 'output "a" {\n  value = 1\n}\n' } } })
  await seeConverged(own.kube, lost)
}, 300_000)

test('a megabyte that is printed and one that is an output are no trouble; more than a Secret holds is told', async () => {
  const module = (bytes: number) => `
resource "terraform_data" "it" {
  provisioner "local-exec" {
    command = "yes 0123456789abcdef | head -c 1200000"
  }
}
output "large" {
  value = join("", [for each in range(1000) : join("", [for one in range(10) : substr(sha512("\${each} \${one}"), 0, ${bytes / 10_000})])])
}
`
  const { spec, ...large } = aWorkspace({ namespace, name: 'large', module: module(1_000_000) })
  await own.kube.apply({ ...large, spec: { ...(spec as object), writeConnectionSecretToRef: { name: 'large' } } })
  const made = await seeConverged(own.kube, large)
  const outputsOf = ({ status }: KubeObject) =>
    (status as { readonly atProvider: { readonly outputs: { readonly large: string } } }).atProvider.outputs
  expect(outputsOf(made).large).toHaveLength(1_000_000)

  await own.kube.patch(large, { spec: { forProvider: { module: module(1_200_000) } } })
  const told = await seeTrouble(large, /failed: /)
  expect(conditionOf(told, 'Synced')?.message).toMatchInlineSnapshot(
    `"update failed: cannot patch Secret default/large: 422 Secret "large" is invalid: data: Too long: may not be more than 1048576 bytes"`,
  )
  await own.kube.patch(large, { spec: { forProvider: { module: module(10_000) } } })
  expect(outputsOf(await seeConverged(own.kube, large)).large).toHaveLength(10_000)
}, 300_000)

test('the API server is away while an apply ends: nothing is made twice, and the state comes home', async () => {
  const { module, hasBegun, letGo, timesMade } = waitingModule('away')
  const away = aWorkspace({ namespace, name: 'away', module })
  await own.kube.apply(away)
  const { uid = '' } = (await own.kube.read(away))?.metadata ?? {}
  await hasBegun()
  await own.apiServer.kill()
  letGo()
  const left = join(own.home.folder, 'engine-work', uid, 'module', 'errored.tfstate')
  await until('the state is left in the folder', async () => (existsSync(left) ? true : undefined), patience)
  await own.apiServer.start()
  if (engine.member.obituary() !== undefined) {
    engine = await own.launch('engine-2', { work: join(own.home.folder, 'engine-work') })
  }
  await seeReady(engine)
  await seeConverged(own.kube, away)
  expect(timesMade()).toBe(1)
  expect(existsSync(left)).toBe(false)
  await own.kube.remove(away)
  await own.kube.seeGone(away, patience)
}, 600_000)

const canMount = spawnSync('unshare', ['-Urm', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0

test.skipIf(!canMount)(
  'a full disk is told, and what fits goes on',
  async () => {
    await engine.member.kill('SIGTERM')
    const work = join(own.home.folder, 'small')
    mkdirSync(work)
    const small = aWorkspace({ namespace, name: 'small' })
    const big = aWorkspace({
      namespace,
      name: 'big',
      module: `# ${'x'.repeat(190_000)}\noutput "a" {\n  value = 1\n}\n`,
    })
    engine = await own.start('engine-3', {
      work,
      within: ['unshare', '-Urm', 'sh', '-c', `mount -t tmpfs -o size=160k tmpfs ${work} && exec "$@"`, 'sh'],
    })
    await own.kube.apply(small)
    await seeConverged(own.kube, small)
    await own.kube.apply(big)
    const told = await seeTrouble(big, /^connect failed: /)
    expect(conditionOf(told, 'Synced')?.message?.replaceAll(own.home.folder, '')).toMatchInlineSnapshot(
      `"connect failed: cannot furnish a work folder in /small: the disk is full: give it more room (ENOSPC)"`,
    )
    await own.kube.patch(big, { spec: { forProvider: { module: 'output "a" {\n  value = 1\n}\n' } } })
    await seeConverged(own.kube, big)
  },
  400_000,
)
