// A Terraform state is lost, damaged and put back: it is noticed before anything is made a second time, and one command, the one that
// is told, makes it good. Manager, engine, OpenTofu and `capt`, all real.
import { mkdtempSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { stateNamespace } from '../../src/terraform/statesecret.ts'
import { runCommand } from '../bed/command.ts'
import type { KubeObject } from '../bed/kube.ts'
import { theBed } from '../bed/story.ts'
import { aWorkspaceTemplate, aWorkspaceTemplateApply } from '../given.ts'
import { askAgain, attributesIn, conditionOf, readEngineLog, readState, seeSaying, workspaceOf } from '../lives.ts'

const bed = theBed()
const { kube } = bed
const capt = async (...args: readonly string[]) =>
  runCommand(join(bed.bin, 'capt'), args, { env: { KUBECONFIG: bed.kubeconfig } })

const module = `
variable "size" {
  type = number
}
resource "terraform_data" "first" {}
resource "terraform_data" "second" {
  count = var.size
}
output "id" {
  value = terraform_data.first.id
}
`

// The command in the message, as it is written there.
const toldCommand = (object: KubeObject) =>
  /\(capt (?<command>state restore [^)]*)\)/.exec(conditionOf(object, 'Applied')?.message ?? '')?.groups?.['command'] ??
  ''

test('a lost or damaged state stops everything until the told command has restored it, and then nothing is to be done', async () => {
  const namespace = await bed.namespace('state')
  const apply = aWorkspaceTemplateApply({ namespace, variables: { size: 0 } })
  const workspace = workspaceOf('tf.m.upbound.io', apply)
  const secret: KubeObject = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: stateNamespace, name: `tfstate-${namespace}.demo-capt` },
  }
  const appliesRun = async () =>
    (await readEngineLog(bed)).filter(
      ({ msg, object, did }) =>
        msg === 'passed' &&
        String(object).endsWith(` ${namespace}/demo`) &&
        Array.isArray(did) &&
        did.includes('apply'),
    ).length
  await kube.apply(aWorkspaceTemplate({ namespace, module }), apply)
  await seeSaying(kube, apply, 'Applied', 'Converged')
  await kube.patch(apply, { spec: { variables: { size: 2 } } })
  await seeSaying(kube, apply, 'Applied', 'Converged')
  const before = await readState(kube, apply)
  await expect.poll(appliesRun, { timeout: 20_000 }).toBe(2)

  const listed = await capt('state', 'list', 'demo', '--namespace', namespace)
  expect(listed).toContain(`Secret ${stateNamespace}/${secret.metadata.name}: serial `)
  expect(listed.match(/ 3 {10}after | 1 {10}after /g)).toEqual([' 3          after ', ' 1          after '])
  const file = join(mkdtempSync(join(bed.folder, 'export-')), 'demo.tfstate')
  await capt('state', 'export', 'demo', '--namespace', namespace, '--output', file)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(before)

  for (const [how, lose] of [
    ['lost', async () => kube.remove(secret)],
    ['damaged', async () => kube.patch(secret, { data: { tfstate: 'bm9uc2Vuc2U=' } })],
  ] as const) {
    await lose()
    await askAgain(kube, workspace, how)
    const told = await seeSaying(kube, apply, 'Applied', 'StateMissing')
    expect(conditionOf(told, 'Ready')?.status).toBe('False')
    const command = toldCommand(told)
    expect(command).toBe(`state restore demo --namespace ${namespace} --at latest`)
    await expect(capt(...command.split(' '))).rejects.toThrow('pass --yes')
    const said = await capt(...command.split(' '), '--yes')
    expect(said).toContain('restored   serial ')
    await seeSaying(kube, apply, 'Applied', 'Converged')
    expect(await readState(kube, apply)).toEqual(before)
  }
  await askAgain(kube, workspace, 'at the end')
  expect(await appliesRun()).toBe(2)
  expect(attributesIn(await readState(kube, apply), 'first')).toEqual(attributesIn(before, 'first'))

  // An older copy knows less: what was made since is made again, as it was said.
  const older = /^(\w{12}) .* 1 {10}after /m.exec(listed)?.[1] ?? ''
  expect(await capt('state', 'restore', 'demo', '--namespace', namespace, '--at', older, '--yes')).toContain(
    'what was made since is not in it, and would be made again',
  )
  await expect.poll(appliesRun, { timeout: 60_000 }).toBe(3)
  // And from the file it is as it was.
  await kube.patch(apply, { spec: { variables: { size: 2 } } })
  await seeSaying(kube, apply, 'Applied', 'Converged')
  await capt('state', 'restore', 'demo', '--namespace', namespace, '--from', file, '--yes')
  await askAgain(kube, workspace, 'from the file')
  expect((await readState(kube, apply)).resources).toEqual(before.resources)

  await kube.remove(apply)
  await kube.seeGone(apply, { withinSeconds: 120 })
}, 240_000)
