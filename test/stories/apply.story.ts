// The whole life of an apply, in both APIs that our engine serves: manager, engine and OpenTofu, all real.
import { randomBytes } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { pausedAnnotation } from '../../src/api/contract.ts'
import { annotations } from '../../src/api/keys.ts'
import { crossplane } from '../../src/api/workspace.ts'
import { readPlanNote } from '../../src/terraform/plannote.ts'
import { stateNamespace } from '../../src/terraform/statesecret.ts'
import type { KubeObject } from '../bed/kube.ts'
import { theBed } from '../bed/story.ts'
import { aWorkspaceTemplate, aWorkspaceTemplateApply } from '../given.ts'
import { aTeller } from '../golden.ts'
import {
  askAgain,
  attributesIn,
  conditionOf,
  eventsOf,
  patience,
  readState,
  seeNoTraces,
  seenByAnybody,
  seeSaying,
  tracesOf,
  workspaceOf,
  writeState,
} from '../lives.ts'

const bed = theBed()
const { kube } = bed

const module = `
variable "nodes" {
  type = number
}
variable "zone" {
  type = string
}
variable "password" {
  type      = string
  sensitive = true
}
resource "terraform_data" "nodes" {
  input = var.nodes
  lifecycle {
    precondition {
      condition     = var.nodes <= 10
      error_message = "VcpuLimitExceeded: You have requested more vCPU capacity than your current limit of 10 allows."
    }
  }
}
resource "terraform_data" "disk" {
  input            = sha256(var.password)
  triggers_replace = var.zone
}
output "nodes" {
  value = terraform_data.nodes.output
}
output "token" {
  value     = "token-of-\${var.password}"
  sensitive = true
}
`

const outputsOf = (object: KubeObject) =>
  (object['status'] as { readonly outputs?: { readonly nodes?: number } } | undefined)?.outputs
const decoded = (secret: KubeObject | undefined) =>
  Object.fromEntries(
    Object.entries((secret?.['data'] ?? {}) as Record<string, string>).map(([key, value]) => [
      key,
      Buffer.from(value, 'base64'),
    ]),
  )
const messageOf = (object: KubeObject, type: string) => conditionOf(object, type)?.message ?? ''

describe.each(['tf.m.upbound.io', 'tf.upbound.io'] as const)('in %s', (group) => {
  test('an apply is made, changed, drifts, is held, approved, fails, is mended, paused and deleted', async () => {
    const story = aTeller()
    const namespace = await bed.namespace('apply')
    const hush = `hush-${randomBytes(6).toString('hex')}`
    const template = {
      ...aWorkspaceTemplate({ namespace, name: 'pool', module }),
      spec: { workspaceAPI: group, template: { spec: { forProvider: { source: 'Inline', module } } } },
    }
    const apply = aWorkspaceTemplateApply({
      namespace,
      name: 'pool',
      destructiveChanges: 'Hold',
      variables: { nodes: 1, zone: 'a' },
      variablesFrom: [{ name: 'password', secret: { name: 'login', key: 'password' } }],
      writeConnectionSecretToRef: { name: 'pool-outputs' },
    })
    const login: KubeObject = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace, name: 'login' },
      stringData: { password: hush },
    }
    const connection = { apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name: 'pool-outputs' } }
    const workspace = workspaceOf(group, apply)
    const change = async (variables: object) => kube.patch(apply, { spec: { variables } })
    const annotate = async (notes: object) => kube.patch(apply, { metadata: { annotations: notes } })
    const policies = async (managementPolicies: readonly string[] | null) =>
      kube.patch(template, { spec: { template: { spec: { managementPolicies } } } })
    const seeReady = async (nodes: number) => {
      const isSo = (object: KubeObject) => outputsOf(object)?.nodes === nodes
      await kube.see(apply, `has ${nodes} nodes`, isSo, patience)
      return seeSaying(kube, apply, 'Ready', 'Ready')
    }
    const all = ['Ready', 'DependenciesReady', 'VariablesResolved', 'Applied', 'Synced', 'Drifted']
    const masked = (text: string) =>
      text
        .replaceAll(namespace, 'NAMESPACE')
        .replaceAll(/(approve=)[0-9a-f]+/g, '$1PLAN')
        .replaceAll(/Workspace \S*\.pool\b|Workspace NAMESPACE\/pool\b/g, 'Workspace pool')

    story.happens('a template, a Secret and an apply are made')
    await kube.apply(login, template, apply)
    const made = await seeReady(1)
    story.says(made, ...all)
    story.notes(`outputs ${JSON.stringify(outputsOf(made))}`)
    expect((await kube.read(workspace))?.metadata.annotations?.[annotations.cli]).toMatch(/^tofu /)
    const { nodes, token } = decoded(await kube.read(connection))
    expect([String(nodes), String(token)]).toEqual(['1', `token-of-${hush}`])
    story.notes('connection Secret: nodes and token are what the module says')

    story.happens('a variable changes')
    await change({ nodes: 2 })
    const changed = await seeReady(2)
    story.says(changed, ...all)
    story.notes(`outputs ${JSON.stringify(outputsOf(changed))}`)
    await kube.see(connection, 'has followed', (secret) => String(decoded(secret)['nodes']) === '2', patience)

    story.happens('nobody may update, and what was built is changed behind its back')
    await policies(['Observe', 'Create', 'Delete'])
    await seeSaying(kube, apply, 'Applied', 'PlanOnly')
    const state = await readState(kube, apply)
    attributesIn(state, 'nodes')['input'] = { value: 7, type: 'number' }
    await writeState(kube, apply, state)
    story.says(await askAgain(kube, workspace, 'drift'), 'Ready', 'Synced', 'UpToDate')
    const drifted = await seeSaying(kube, apply, 'Drifted', 'Drifted')
    story.says(drifted, ...all)
    story.notes(`Drifted: ${messageOf(drifted, 'Drifted')}`)

    story.happens('they may again: it is repaired')
    await policies(null)
    story.says(await seeSaying(kube, apply, 'Drifted', 'InSync'), 'Drifted')
    story.says(await seeReady(2), ...all)
    expect(attributesIn(await readState(kube, apply), 'nodes')['input']).toEqual({ value: 2, type: 'number' })
    const note = readPlanNote((await kube.read(workspace))?.metadata.annotations?.[annotations.plan])
    story.notes(
      `it took ${note?.create} to create, ${note?.update} to update, ${note?.replace} to replace, ${note?.delete} to delete`,
    )

    story.happens('a change would replace the disk')
    const disk = attributesIn(await readState(kube, apply), 'disk')['id']
    await change({ zone: 'b' })
    const held = await seeSaying(kube, apply, 'Applied', 'ApprovalRequired')
    story.says(held, ...all)
    story.notes(`it says: ${masked(messageOf(held, 'Ready'))}`)

    story.happens('another plan is approved')
    await annotate({ [annotations.approve]: 'a0b1c2d3e4f5' })
    await kube.see(
      workspace,
      'was told',
      ({ metadata }) => metadata.annotations?.[annotations.approve] === 'a0b1c2d3e4f5',
      patience,
    )
    story.says(await askAgain(kube, workspace, 'approved'), 'Ready', 'Synced', 'UpToDate')
    story.says(await seeSaying(kube, apply, 'Applied', 'ApprovalRequired'), ...all)
    expect(attributesIn(await readState(kube, apply), 'disk')['id']).toBe(disk)

    story.happens('the very command that the condition shows is run')
    const [, command = ''] = /To approve: kubectl (.*)$/.exec(messageOf(held, 'Ready')) ?? []
    await kube.kubectl(command.split(' '))
    story.says(await seeSaying(kube, apply, 'Ready', 'Ready'), ...all)
    expect(attributesIn(await readState(kube, apply), 'disk')['id']).not.toBe(disk)
    story.notes('the disk is another one')

    story.happens('a change fails')
    await change({ nodes: 100 })
    const failed = await seeSaying(kube, apply, 'Applied', 'TerraformFailed')
    story.says(failed, ...all)
    story.notes(`it says: ${masked(messageOf(failed, 'Ready'))}`)
    expect(outputsOf(failed)).toEqual({ nodes: 2 })
    for (const when of ['fails', 'fails again']) await askAgain(kube, workspace, when)
    const failures = async () => {
      const events = [...(await eventsOf(kube, apply)), ...(await eventsOf(kube, workspace))]
      return events
        .filter(({ reason }) => reason === 'TerraformFailed' || reason === 'CannotObserveExternalResource')
        .map(({ regarding, reason, series }) => {
          const { kind } = regarding as { readonly kind: string }
          return `${kind} ${String(reason)} ${series ? 'again' : 'once'}`
        })
        .toSorted()
    }
    await expect
      .poll(failures, { timeout: 60_000 })
      .toEqual(['Workspace CannotObserveExternalResource once', 'WorkspaceTemplateApply TerraformFailed once'])
    story.notes(`events: ${(await failures()).join(', ')}`)

    story.happens('it is mended')
    await change({ nodes: 3 })
    story.says(await seeReady(3), ...all)

    story.happens('it is paused, and changed meanwhile')
    await annotate({ [pausedAnnotation]: '' })
    await seeSaying(kube, apply, 'Paused', 'Paused')
    await kube.see(
      workspace,
      'is paused',
      (object) => conditionOf(object, 'Synced')?.reason === 'ReconcilePaused',
      patience,
    )
    const generation = (await kube.read(workspace))?.metadata.generation
    await change({ nodes: 4 })
    story.says(await seeSaying(kube, apply, 'Paused', 'Paused'), 'Paused', 'Ready')
    const paused = await askAgain(kube, workspace, 'paused')
    story.says(paused, 'Ready', 'Synced')
    expect(paused.metadata.generation).toBe(generation)
    expect(attributesIn(await readState(kube, apply), 'nodes')['input']).toEqual({ value: 3, type: 'number' })

    story.happens('it goes on')
    await annotate({ [pausedAnnotation]: null })
    story.says(await seeReady(4), 'Paused', ...all)
    expect((await kube.read(workspace))?.metadata.annotations).not.toHaveProperty([crossplane.paused])

    const plan = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        namespace: workspace.metadata.namespace ?? stateNamespace,
        name: `${workspace.metadata.name}-plan`,
      },
    }
    const { 'plan.gz': text = Buffer.of() } = decoded(await kube.read(plan))
    expect(gunzipSync(text).toString('utf8')).toMatch(/terraform_data\.nodes/)
    const seen = `${await seenByAnybody(bed, namespace)}\n${gunzipSync(text).toString('utf8')}`
    for (const secret of [hush, Buffer.from(hush).toString('base64').slice(0, 20)]) expect(seen).not.toContain(secret)
    story.notes('neither the password nor the token is in a Workspace, an apply, an event, a plan or a log')

    story.happens('it is deleted')
    const traces = (await tracesOf(kube, namespace, 'pool')).map((trace) =>
      trace
        .replaceAll(`${namespace}.`, '')
        .replace(/ [0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, ' UID')
        .replaceAll(/[0-9a-f]{12,}/g, 'HASH'),
    )
    for (const each of new Set(traces.toSorted())) story.notes(`there was ${each}`)
    await kube.remove(apply)
    await kube.seeGone(apply, patience)
    await kube.seeGone(workspace, patience)
    await seeNoTraces(kube, namespace, 'pool')
    story.notes('nothing is left of it')
    await story.end('apply')
  }, 600_000)
})
