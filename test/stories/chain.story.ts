// Applies that need each other: the chain of the examples, and three links that are deleted with everything around them.
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { WorkspaceGroup } from '../../src/api/workspace.ts'
import type { KubeObject } from '../bed/kube.ts'
import { theBed } from '../bed/story.ts'
import { aConfigMap, aWorkspaceTemplate, aWorkspaceTemplateApply } from '../given.ts'
import { aTeller } from '../golden.ts'
import {
  attributesIn,
  patience,
  readState,
  seeDestroyed,
  seeNoTraces,
  seenByAnybody,
  seeSaying,
  workspaceOf,
} from '../lives.ts'

const bed = theBed()
const { kube } = bed
const example = resolve(import.meta.dirname, '../../examples/terraform/chain.yaml')
const outputsOf = (object: KubeObject) =>
  (object['status'] as { readonly outputs?: Readonly<Record<string, unknown>> } | undefined)?.outputs ?? {}

test('the chain of the examples: made in order, followed, and deleted in reverse though both are deleted at once', async () => {
  const story = aTeller()
  const namespace = await bed.namespace('chain')
  const [network, cluster] = ['network', 'cluster'].map((name) => aWorkspaceTemplateApply({ namespace, name })) as [
    KubeObject,
    KubeObject,
  ]
  const all = ['Ready', 'DependenciesReady', 'VariablesResolved', 'Applied']

  story.happens('the file is applied')
  await kube.kubectl(['apply', '--namespace', namespace, '--filename', example])
  const first = await seeSaying(kube, cluster, 'Ready', 'Ready')
  story.says(first, ...all)
  story.notes(`cluster: ${String(outputsOf(first)['summary'])}`)
  const made = await seeSaying(kube, network, 'Ready', 'Ready')
  story.says(made, ...all)
  story.notes(`network: ${JSON.stringify(outputsOf(made))}`)
  const { lastAppliedTime = '' } = made['status'] as { readonly lastAppliedTime?: string }
  const follower = await kube.read(workspaceOf('tf.m.upbound.io', cluster))
  expect(new Date(lastAppliedTime) <= new Date(follower?.metadata.creationTimestamp ?? '')).toBe(true)
  story.notes('the Workspace of cluster was made when network had converged')

  const tokenSeen = async () => attributesIn(await readState(kube, cluster), 'cluster')['input']
  const tokenOf = (cidr: string) => createHash('sha256').update(`token-of-${cidr}`).digest('hex')
  expect(await tokenSeen()).toMatchObject({ value: { token: tokenOf('10.0.0.0/16') } })
  expect(await seenByAnybody(bed, namespace)).not.toContain('token-of-10.')
  story.notes('the sensitive output has arrived, and is nowhere to be seen')

  story.happens('an output changes')
  await kube.patch(network, { spec: { variables: { cidr: '10.1.0.0/16' } } })
  const isNew = (object: KubeObject) => String(outputsOf(object)['summary']).includes('vpc-10-1-')
  await kube.see(cluster, 'has followed', isNew, patience)
  const followed = await seeSaying(kube, cluster, 'Ready', 'Ready')
  story.says(followed, ...all)
  story.notes(`cluster: ${String(outputsOf(followed)['summary'])}`)
  expect(await tokenSeen()).toMatchObject({ value: { token: tokenOf('10.1.0.0/16') } })

  story.happens('both are deleted at once')
  await kube.kubectl([
    'delete',
    'workspacetemplateapply',
    'network',
    'cluster',
    '--namespace',
    namespace,
    '--wait=false',
  ])
  for (const each of [network, cluster]) await kube.seeGone(each, patience)
  for (const each of await seeDestroyed(bed, namespace, 2)) story.notes(`destroyed ${each}`)
  await seeNoTraces(kube, namespace)
  await story.end('chain')
}, 400_000)

// Three in a row, each of two resources, and what they write down of their life.
async function threeLinks(group: WorkspaceGroup, story: string) {
  const namespace = await bed.namespace(story)
  const diary = join(bed.folder, `${namespace}.diary`)
  // Writes down that it is made and destroyed; needs a Secret and a ConfigMap, which go with the namespace too.
  const module = `
variable "diary" {}
variable "after" { default = "" }
variable "name" {}
variable "password" { sensitive = true }
variable "place" {}
resource "terraform_data" "it" {
  count = 2
  input = { diary = var.diary, name = var.name, index = count.index }
  provisioner "local-exec" {
    command = "echo made \${self.input.name} \${self.input.index} >> \${self.input.diary}"
  }
  provisioner "local-exec" {
    when    = destroy
    command = "echo gone \${self.input.name} \${self.input.index} >> \${self.input.diary}"
  }
}
output "name" {
  value     = "\${var.name}\${var.password}\${var.place}"
  sensitive = true
}
`
  const template = {
    ...aWorkspaceTemplate({ namespace, name: 'link', module }),
    spec: { workspaceAPI: group, template: { spec: { forProvider: { source: 'Inline', module } } } },
  }
  const links = ['base', 'middle', 'top']
  const applies = links.map((name, index) =>
    aWorkspaceTemplateApply({
      namespace,
      name,
      template: 'link',
      variables: { diary, name },
      variablesFrom: [
        { name: 'password', secret: { name: 'login', key: 'password' } },
        { name: 'place', configMap: { name: 'place', key: 'region' } },
        ...(index > 0 ? [{ name: 'after', apply: { name: links[index - 1], output: 'name' } }] : []),
      ],
    }),
  )
  const login: KubeObject = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace, name: 'login' },
    stringData: { password: 'hush' },
  }
  await kube.apply(login, aConfigMap({ namespace, name: 'place', data: { region: 'here' } }), template, ...applies)
  for (const each of applies) await seeSaying(kube, each, 'Ready', 'Ready')
  const kept = async () => (await readFile(diary, 'utf8')).trimEnd().split('\n')
  expect((await kept()).toSorted()).toEqual(links.flatMap((name) => [0, 1].map((n) => `made ${name} ${n}`)).toSorted())
  const ended = async () => (await kept()).slice(6).map((line) => line.replace(/ \d$/, ''))
  return {
    namespace,
    applies,
    ended,
    inReverse: links.toReversed().flatMap((name) => [`gone ${name}`, `gone ${name}`]),
  }
}

describe.each(['tf.m.upbound.io', 'tf.upbound.io'] as const)('in %s', (group) => {
  test('a namespace is deleted with everything in it: all is destroyed, in the right order', async () => {
    const { namespace, ended, inReverse } = await threeLinks(group, 'whole')
    const whole = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }
    await kube.remove(whole)
    await kube.seeGone(whole, { withinSeconds: 300 })
    expect(await ended()).toEqual(inReverse)
    await seeNoTraces(kube, namespace)
  }, 600_000)

  test('Workspaces are deleted, and then their applies: all is destroyed, in the right order', async () => {
    const { namespace, applies, ended, inReverse } = await threeLinks(group, 'both')
    for (const each of applies) await kube.remove(workspaceOf(group, each))
    for (const each of applies) await kube.remove(each)
    for (const each of applies) await kube.seeGone(each, patience)
    expect(await ended()).toEqual(inReverse)
    await seeNoTraces(kube, namespace)
  }, 600_000)
})
