// Fifty applies that need one, on an API server of their own: they would keep the engine of the bed from everybody else's.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { stateNamespace } from '../../src/terraform/statesecret.ts'
import { lendAudit } from '../bed/audit.ts'
import { launchManager, type ManagerProcess, managerKubeconfig, seeReady } from '../bed/manager.ts'
import { type OwnEngines, startOwnEngines } from '../bed/own-engines.ts'
import { theBed } from '../bed/story.ts'
import { aWorkspaceTemplate, aWorkspaceTemplateApply } from '../given.ts'
import { conditionOf, seeDestroyed } from '../lives.ts'
import { until } from '../until.ts'

const namespace = 'default'
const patience = { withinSeconds: 400, everyMs: 1000 }
let own: OwnEngines
let engine: ManagerProcess
beforeAll(async () => {
  own = await startOwnEngines('fan')
  engine = await own.start('engine')
  const kubeconfig = await managerKubeconfig({ kube: own.kube, folder: own.home.folder }, own)
  const flags = ['--workspace-api=tf.m.upbound.io']
  await seeReady(await launchManager(own.home, { name: 'manager', kubeconfig, flags }))
}, 300_000)
afterAll(async () => {
  if (own) await lendAudit(theBed(), own.auditLog, 'fan-story')
  await own?.home.end()
})

test('fifty that need one are made after it, and deleted before it', async () => {
  const { kube } = own
  const one = aWorkspaceTemplate({
    namespace,
    name: 'one',
    module: 'variable "seed" {}\noutput "seed" {\n  value = var.seed\n}\n',
  })
  const many = aWorkspaceTemplate({
    namespace,
    name: 'many',
    module:
      'variable "seed" {}\nresource "terraform_data" "it" {\n  input = var.seed\n}\noutput "seed" {\n  value = terraform_data.it.output\n}\n',
  })
  const base = aWorkspaceTemplateApply({ namespace, name: 'one', variables: { seed: 'a' } })
  const fan = Array.from({ length: 50 }, (_, index) =>
    aWorkspaceTemplateApply({
      namespace,
      name: `many-${index}`,
      template: 'many',
      variablesFrom: [{ name: 'seed', apply: { name: 'one', output: 'seed' } }],
    }),
  )
  const since = (then: number) => `${((performance.now() - then) / 1000).toFixed(1)} s`
  const readyOnes = async () => {
    const applies = await kube.list(base.apiVersion, base.kind, namespace)
    return applies.filter((each) => conditionOf(each, 'Ready')?.status === 'True')
  }

  const began = performance.now()
  await kube.apply(one, many, base, ...fan)
  let ready = 0
  await until(
    'all are ready',
    async () => ((ready = (await readyOnes()).length) === 51 ? true : undefined),
    patience,
  ).catch((error: unknown) => {
    throw new Error(`only ${ready} of 51 are ready`, { cause: error })
  })
  const made = since(began)
  const outputs = (await readyOnes()).map(({ status }) => (status as { readonly outputs: object }).outputs)
  expect(new Set(outputs.map((each) => JSON.stringify(each)))).toEqual(new Set(['{"seed":"a"}']))

  const deleted = performance.now()
  await kube.kubectl(['delete', 'workspacetemplateapply', '--all', '--namespace', namespace, '--wait=false'])
  await kube.seeGone(base, patience)
  const gone = since(deleted)
  expect((await seeDestroyed({ engine: engine.address }, namespace, 51)).at(-1)).toBe('one')
  const states = (await kube.list('v1', 'Secret', stateNamespace)).map(({ metadata }) => metadata.name)
  expect(states).toEqual(['tfstate-default-capt']) // Terraform's own, which is empty
  console.log(`a fan of fifty: made in ${made}, gone in ${gone}`)
}, 1_000_000)
