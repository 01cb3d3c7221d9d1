// What an apply does not do: wait in a ring without a word, follow a template it does not want to follow, write because something
// changed that is none of its business, or ask when there is nothing to ask. On the bed, with the real manager and engine.

import { beforeAll, expect, test } from 'vitest'
import { isWrite } from '../bed/audit.ts'
import { engineUser } from '../bed/engine.ts'
import type { KubeObject } from '../bed/kube.ts'
import { managerUser } from '../bed/manager.ts'
import { theBed } from '../bed/story.ts'
import { aWorkspaceTemplate, aWorkspaceTemplateApply } from '../given.ts'
import { conditionOf, patience, seeConverged, seeSaying, workspaceOf } from '../lives.ts'

const bed = theBed()
const { kube } = bed
const moduleOf = (greeting: string) => `
variable "name" {}
output "text" {
  value = "${greeting} \${var.name}"
}
`
const outputsOf = ({ status }: KubeObject) => (status as { readonly outputs?: object } | undefined)?.outputs
const revisionOf = ({ status }: KubeObject) => (status as { readonly revision?: string } | undefined)?.revision ?? ''
const usersOf = ({ status }: KubeObject) =>
  (status as { readonly users?: { readonly count: number } } | undefined)?.users?.count
const uses = (name: string) => [{ name: 'name', apply: { name, output: 'text' } }]
let settled: { readonly namespace: string; readonly since: Date }

async function aStage(story: string) {
  const namespace = await bed.namespace(story)
  const template = aWorkspaceTemplate({ namespace, name: 'hello', module: moduleOf('hello') })
  await kube.apply(template)
  const anApply = (name: string, more: object = { variables: { name } }) =>
    aWorkspaceTemplateApply({ namespace, name, template: 'hello', ...more })
  // There is one queue: who is looked at last tells that all others were looked at before.
  const seeAllLookedAt = async () => {
    const last = anApply('last', { templateRef: { name: 'none' } })
    await kube.apply(last)
    await seeSaying(kube, last, 'Ready', 'TemplateNotFound')
    await kube.remove(last)
  }
  return { namespace, template, anApply, seeAllLookedAt }
}

beforeAll(async () => {
  const { namespace, template, anApply } = await aStage('settled')
  await kube.apply(anApply('world'))
  await seeSaying(kube, anApply('world'), 'Ready', 'Ready')
  // Its engine may have something to write down yet.
  await seeConverged(kube, workspaceOf('tf.m.upbound.io', anApply('world')))
  // And words that turn nothing wait for a second.
  await kube.see(template, 'counts its user', (seen) => usersOf(seen) === 1, patience)
  settled = { namespace, since: new Date() }
})

test('applies that wait for each other are told so, and go on when one of them lets go', async () => {
  const { anApply } = await aStage('ring')
  const [first, second] = [
    anApply('first', { variablesFrom: uses('second') }),
    anApply('second', { variablesFrom: uses('first') }),
  ]
  await kube.apply(first, second)
  for (const each of [first, second]) {
    const told = conditionOf(await seeSaying(kube, each, 'DependenciesReady', 'DependencyCycle'), 'DependenciesReady')
    expect(told?.message).toMatch(/they wait for each other: (first → second → first|second → first → second)/)
    expect(await kube.read(workspaceOf('tf.m.upbound.io', each))).toBeUndefined()
  }
  await kube.patch(first, { spec: { variablesFrom: null, variables: { name: 'world' } } })
  const followed = await seeSaying(kube, second, 'Ready', 'Ready')
  expect(outputsOf(followed)).toEqual({ text: 'hello hello world' })
})

test('an apply that pins a revision stays as it is until it is told otherwise', async () => {
  const { template, anApply } = await aStage('pinned')
  const judged = await kube.see(template, 'is judged', (seen) => revisionOf(seen) !== '', patience)
  const templateRef = { name: 'hello', revision: revisionOf(judged) }
  const pinned = anApply('world', { templateRef, variables: { name: 'world' } })
  const workspace = workspaceOf('tf.m.upbound.io', pinned)
  await kube.apply(pinned)
  await seeSaying(kube, pinned, 'Ready', 'Ready')
  const before = await seeConverged(kube, workspace)

  await kube.patch(template, { spec: { template: { spec: { forProvider: { module: moduleOf('goodbye') } } } } })
  const told = await seeSaying(kube, pinned, 'Applied', 'RevisionPinned')
  expect(conditionOf(told, 'Ready')?.status).toBe('True')
  expect(outputsOf(told)).toEqual({ text: 'hello world' })
  expect((await kube.read(workspace))?.metadata.generation).toBe(before.metadata.generation)

  await kube.patch(pinned, { spec: { templateRef: { revision: null } } })
  await kube.see(pinned, 'has followed', (seen) => JSON.stringify(outputsOf(seen)).includes('goodbye'), patience)
  await seeSaying(kube, pinned, 'Applied', 'Converged')
})

test('another description of a template is no reason to write to its applies', async () => {
  const { namespace, template, anApply, seeAllLookedAt } = await aStage('described')
  const apply = anApply('world')
  await kube.apply(apply)
  await seeSaying(kube, apply, 'Ready', 'Ready')
  await seeAllLookedAt()
  const since = new Date()
  await kube.patch(template, { spec: { template: { metadata: { description: 'Says hello.' } } } })
  await kube.see(
    template,
    'is judged anew',
    ({ metadata, status }) => (status as { observedGeneration?: number }).observedGeneration === metadata.generation,
    patience,
  )
  await seeAllLookedAt()
  const writes = (await bed.audit({ namespace, since })).filter(
    (each) => [managerUser, engineUser].includes(each.user) && isWrite(each) && !each.name.startsWith('last'),
  )
  // The template itself is judged anew; more than once where what was decided on had just changed.
  const told = new Set(writes.map(({ verb, resource, name }) => `${verb} ${resource} ${name}`))
  expect([...told]).toEqual(['patch workspacetemplates/status hello'])
})

test('all this time nobody has asked for what had settled', async () => {
  const { namespace, since } = settled
  expect(Date.now() - since.getTime()).toBeGreaterThan(3000)
  const asked = (await bed.audit({ namespace, since })).filter(({ user }) => [managerUser, engineUser].includes(user))
  expect(asked.map(({ verb, resource, name }) => `${verb} ${resource} ${name}`)).toEqual([])
})
