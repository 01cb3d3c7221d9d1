// One engine after another: what stands is taken over as it is, unless it speaks another language.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { annotations } from '../../src/api/keys.ts'
import { crossplane } from '../../src/api/workspace.ts'
import { realParts } from '../../tools/workshop.ts'
import { lendAudit } from '../bed/audit.ts'
import type { KubeObject } from '../bed/kube.ts'
import { type ManagerProcess, readLog } from '../bed/manager.ts'
import { type OwnEngines, startOwnEngines } from '../bed/own-engines.ts'
import { theBed } from '../bed/story.ts'
import { aWorkspace } from '../given.ts'
import { askAgain, attributesIn, conditionOf, patience, readState, seeConverged } from '../lives.ts'
import { until } from '../until.ts'

const namespace = 'default'
let own: OwnEngines
let engine: ManagerProcess
beforeAll(async () => {
  own = await startOwnEngines('handover')
  engine = await own.start('first')
}, 300_000)
afterAll(async () => {
  if (own) await lendAudit(theBed(), own.auditLog, 'handover-story')
  await own?.home.end()
})

// What an engine did to a Workspace, in all its passes.
async function deedsOf({ address }: ManagerProcess, { metadata }: KubeObject): Promise<ReadonlySet<unknown>> {
  const lines = await readLog(address.log)
  const passes = lines.filter(({ msg, object }) => msg === 'passed' && String(object).endsWith(`/${metadata.name}`))
  return new Set(passes.flatMap(({ did }) => did as readonly string[]))
}
const nothingToDo = new Set(['connect', 'init', 'plan', 'publish'])

test('one is told to end while it applies: the apply ends well, and the next finds nothing to do', async () => {
  const diary = join(own.home.folder, 'diary')
  const go = join(own.home.folder, 'go')
  const module = `
resource "terraform_data" "it" {
  provisioner "local-exec" {
    command = "echo made >> ${diary}; until test -e ${go}; do sleep 0.2; done"
  }
}
output "id" {
  value = terraform_data.it.id
}
`
  const slow = aWorkspace({ namespace, name: 'slow', module })
  await own.kube.apply(slow)
  await until('its apply runs', async () => (existsSync(diary) ? true : undefined), patience)
  const next = await own.start('second')
  const ending = engine.member.kill('SIGTERM') // resolves when it has ended
  await own.kube.patch(slow, { metadata: { labels: { touched: 'meanwhile' } } })
  writeFileSync(go, '')
  await ending
  const made = await own.kube.read(slow)
  expect(made && conditionOf(made, 'Ready')?.reason).toBe('Available')

  const seen = await askAgain(own.kube, slow, 'by the second')
  const outputsOf = (object: KubeObject | undefined) =>
    (object?.['status'] as { readonly atProvider?: object } | undefined)?.atProvider
  expect(outputsOf(seen)).toEqual(outputsOf(made))
  expect(await deedsOf(next, slow)).toEqual(nothingToDo)
  expect(readFileSync(diary, 'utf8')).toBe('made\n')
  engine = next
}, 400_000)

test('a state that the other family of command lines wrote is held, and nothing is run', async () => {
  const other = aWorkspace({ namespace, name: 'other', annotations: { [annotations.cli]: 'terraform 1.11.4' } })
  await own.kube.apply(other)
  const held = await own.kube.see(other, 'is held', (object) => conditionOf(object, 'Synced') !== undefined, patience)
  expect(conditionOf(held, 'Synced')?.message).toMatch(
    /^connect failed: held: the state was written by terraform 1\.11\.4, and this engine runs tofu \S+, which names providers otherwise; run the engine with --terraform-binary=terraform, or convert the state with `tofu state replace-provider` and remove the annotation capt\.appthrust\.io\/cli$/,
  )
  expect(conditionOf(held, 'Ready')).toBeUndefined()
  expect(readdirSync(join(own.home.folder, 'second-work'))).not.toContain(held.metadata.uid)

  await own.kube.patch(other, { metadata: { annotations: { [annotations.cli]: null } } })
  await seeConverged(own.kube, other)
}, 300_000)

// Nobody has to have it.
const hasTerraform = spawnSync('terraform', ['version'], { stdio: 'ignore' }).status === 0

test.skipIf(!hasTerraform)(
  'from Terraform to OpenTofu and back: held, converted, and nothing is touched',
  async () => {
    const { tofu } = await realParts(['tofu'])
    const terraform = execFileSync('sh', ['-c', 'command -v terraform'], { encoding: 'utf8' }).trim()
    const work = join(own.home.folder, 'crossing-work')
    const module = `
resource "terraform_data" "it" {
  input = "made once"
}
output "id" {
  value = terraform_data.it.id
}
`
    const state = `${namespace}.crossing`
    const workspace = aWorkspace({
      namespace,
      name: 'crossing',
      module,
      annotations: { [crossplane.externalName]: state },
    })
    const standing = async () => {
      const kept = await readState(own.kube, workspace)
      return { lineage: kept.lineage, id: attributesIn(kept, 'it')['id'] }
    }
    const handOver = async (name: string, program: string) => {
      await engine.member.kill('SIGTERM')
      engine = await own.start(name, { tofu: program, work })
    }
    // As somebody does who follows the message. Each family reads only what it has initialised itself.
    const replaceProvider = (program: string, from: string, to: string, uid = '') => {
      const env = {
        PATH: '/usr/bin:/bin',
        HOME: work,
        KUBE_CONFIG_PATH: join(work, 'state.kubeconfig'),
        TF_WORKSPACE: state,
      }
      const run = (...args: readonly string[]) =>
        execFileSync(program, args, { cwd: join(work, uid, 'module'), encoding: 'utf8', env })
      run('init', '-reconfigure', '-input=false', '-no-color')
      const [old, other] = [`registry.${from}/hashicorp/null`, `registry.${to}/hashicorp/null`]
      return run('state', 'replace-provider', '-auto-approve', '-no-color', old, other)
    }
    const isHeld = (object: KubeObject) => conditionOf(object, 'Synced')?.message?.includes('names providers otherwise')

    await handOver('crossing-terraform', terraform)
    await own.kube.apply(workspace)
    const made = await seeConverged(own.kube, workspace)
    expect(made.metadata.annotations?.[annotations.cli]).toMatch(/^terraform \d/)
    const before = await standing()

    for (const [name, program, from, to] of [
      ['crossing-tofu', tofu, 'terraform.io', 'opentofu.org'],
      ['crossing-back', terraform, 'opentofu.org', 'terraform.io'],
    ] as const) {
      await handOver(name, program)
      const held = await own.kube.see(workspace, 'is held', (object) => Boolean(isHeld(object)), patience)
      expect(conditionOf(held, 'Ready')?.status).toBe('True')
      // Its only provider is built in, and called the same by both: there is nothing to replace.
      expect(replaceProvider(program, from, to, made.metadata.uid)).toContain('No matching resources found')
      await own.kube.patch(workspace, { metadata: { annotations: { [annotations.cli]: null } } })
      await seeConverged(own.kube, workspace)
      expect(await deedsOf(engine, workspace)).not.toContain('apply')
      expect(await standing()).toEqual(before)
      // Whoever writes the state next is noted, and only then.
      await own.kube.patch(workspace, {
        spec: { forProvider: { module: `${module}output "by" { value = "${name}" }\n` } },
      })
      const written = await seeConverged(own.kube, workspace)
      expect(written.metadata.annotations?.[annotations.cli]).toMatch(program === tofu ? /^tofu \d/ : /^terraform \d/)
      expect(await standing()).toEqual(before)
    }
    await own.kube.remove(workspace)
    await own.kube.seeGone(workspace, patience)
  },
  400_000,
)
