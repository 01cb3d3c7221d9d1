// The player is held to the recording: it plays what was applied, and every write is compared with what a watch saw, and what is
// there after each step with what was there then, field by field.
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { KubeObject } from '../src/api/resource.ts'
import { type ProviderConfig, type Workspace, type WorkspaceAPI, workspaceAPIs } from '../src/api/workspace.ts'
import { conditionsOf } from './bed/describe.ts'
import { type Happened, type Objects, objectsInMemory } from './objects.ts'
import { type Outcome, type Player, startPlayer } from './player.ts'
import { applied, given, masked, stepsOf, type Transition, transitions } from './recorded.ts'

const clusterWide = workspaceAPIs['tf.upbound.io']
const namespaced = workspaceAPIs['tf.m.upbound.io']
let objects: Objects
let players: readonly Player[]
let happened: Happened[]
beforeEach(() => {
  objects = objectsInMemory()
  happened = []
  objects.watch((each) => happened.push(each))
  const { client } = objects
  let seconds = 0
  const date = () => new Date(Date.UTC(2026, 10, 15, 23, 21, seconds++))
  players = [clusterWide, namespaced].map((api) => startPlayer({ client, api, terraform: asWritten, date }))
  for (const resource of [clusterWide.providerConfig, namespaced.clusterProviderConfig]) {
    if (!resource) continue
    const config: ProviderConfig = {
      apiVersion: `${resource.group}/v1beta1`,
      kind: resource.kind,
      metadata: { name: 'default' },
      spec: { pluginCache: true },
    }
    objects.put(resource, config)
  }
})
afterEach(() => {
  for (const player of players) player.stop()
})

// What Terraform made of the recorded modules.
function asWritten({ cluster_name: name }: Readonly<Record<string, unknown>>, { metadata }: Workspace): Outcome {
  switch (metadata.name) {
    case 'fail-syntax':
      return { fails: 'plan', summary: 'Reference to undeclared resource' }
    case 'fail-missing-var':
      return { fails: 'plan', summary: 'No value for required variable' }
    case 'fail-apply':
      return { fails: 'apply', summary: 'local-exec provisioner error' }
    case 'only-outputs':
      return { outputs: { x: { value: 1 } }, resources: 0 }
    case 'no-outputs-no-resources':
      return { outputs: {}, resources: 0 }
    default:
      return {
        outputs: {
          cluster_endpoint: { value: `https://${String(name)}.eks.example.invalid` },
          cluster_certificate_authority_data: { value: Buffer.from(`CA of ${String(name)}`).toString('base64') },
          kubeconfig: { value: `apiVersion: v1\nkind: Config # ${String(name)}\n`, sensitive: true },
          a_number: { value: 3 },
          a_bool: { value: true },
          a_list: { value: ['x', 'y'] },
          an_object: { value: { k: 'v', n: 1.5 } },
        },
      }
  }
}

const apiOf = ({ apiVersion }: Pick<KubeObject, 'apiVersion'>): WorkspaceAPI =>
  apiVersion === 'tf.upbound.io/v1beta1' ? clusterWide : namespaced
const keyFor = ({ metadata: { name, namespace } }: Pick<KubeObject, 'metadata'>) =>
  namespace === undefined ? { name } : { name, namespace }

async function quiet(): Promise<void> {
  for (const player of [...players, ...players]) await player.whenQuiet()
}
async function change(name: string, ...how: readonly object[]): Promise<void> {
  const it = given(name)
  for (const each of how) objects.change(apiOf(it).workspace, keyFor(it), each)
  await quiet()
}
async function apply(...names: readonly string[]): Promise<void> {
  for (const name of names) objects.put(apiOf(given(name)).workspace, given(name))
  await quiet()
}
async function remove(name: string): Promise<void> {
  objects.remove(apiOf(given(name)).workspace, keyFor(given(name)))
  await quiet()
}
const vars = (value: string) => ({ spec: { forProvider: { vars: [{ key: 'cluster_name', value }] } } })
const paused = (value: string | null) => ({ metadata: { annotations: { 'crossplane.io/paused': value } } })

// What a write left, as the recording tells it.
function transition({ type: event, object }: Happened): Transition {
  const { kind, metadata } = object
  if (kind === 'ProviderConfigUsage') return { event, kind }
  if (kind === 'Secret') {
    const { data = {}, type = '' } = object as KubeObject & { data?: object; type?: string }
    return { event, kind, keys: Object.keys(data).toSorted(), type }
  }
  const { status } = object as Workspace
  const annotations = Object.keys(metadata.annotations ?? {}).map((name) => name.replace('crossplane.io/', ''))
  const conditions = (status?.conditions ?? []).map(
    ({ type, status: is, reason, observedGeneration: at }) =>
      `${type}=${is}/${reason}${at === undefined ? '' : `@${at}`}`,
  )
  const atProvider = Object.keys(status?.atProvider ?? {}).toSorted()
  const outputs = Object.keys(status?.atProvider?.outputs ?? {}).length
  return {
    event,
    kind,
    generation: metadata.generation ?? 0,
    ...(metadata.finalizers?.length && { finalizers: metadata.finalizers }),
    ...(annotations.length > 0 && { annotations: annotations.toSorted() }),
    ...(metadata.deletionTimestamp !== undefined && { deleting: true as const }),
    ...(conditions.length > 0 && { conditions }),
    ...(atProvider.length > 0 && { atProvider }),
    ...(outputs > 0 && { outputs }),
  }
}

function writesOn(name: string): readonly Transition[] {
  const isAbout = ({ kind, metadata }: KubeObject) =>
    kind === 'Workspace' ? metadata.name === name : metadata.ownerReferences?.some((owner) => owner.name === name)
  return happened.filter(({ object }) => isAbout(object)).map(transition)
}

function seeAsRecorded(step: string): void {
  for (const like of stepsOf(step)) {
    const isIt = ({ object: { apiVersion, kind, metadata } }: Happened) =>
      apiVersion === like.apiVersion &&
      kind === like.kind &&
      (kind === 'ProviderConfigUsage'
        ? metadata.ownerReferences?.[0]?.name === like.metadata.ownerReferences?.[0]?.name
        : metadata.name === like.metadata.name)
    const last = happened.findLast(isIt)
    expect(
      last && masked(last.object as Parameters<typeof masked>[0], like),
      `${step}: ${like.kind} ${like.metadata.name}`,
    ).toEqual(like)
  }
}

test('every recorded life is played write by write, and its objects are the recorded ones at every step', async () => {
  await apply('sample')
  await apply('sample-ns')
  seeAsRecorded('ready')
  await change('sample', vars('demo2'))
  seeAsRecorded('changed')
  await apply(...applied.map(({ metadata }) => metadata.name).filter((name) => !name.startsWith('sample')))
  seeAsRecorded('failing')
  // Retries find all as it was, but for the one that is never there.
  for (const _ of [1, 2]) {
    for (const player of players) player.plays()
    await quiet()
  }
  await change('sample', paused('true'), vars('demo3'))
  seeAsRecorded('paused')
  await change('sample', paused(null))
  seeAsRecorded('unpaused')
  for (const { metadata } of applied) await remove(metadata.name)

  for (const [name, writes] of Object.entries(transitions)) expect(writesOn(name), name).toEqual(writes)
  expect(players.flatMap(({ destroyed }) => destroyed)).toEqual([
    'tf.upbound.io/sample',
    'tf.upbound.io/fail-apply',
    'tf.m.upbound.io/default/sample-ns',
  ])
})

test('a first failure tells of a create, every later one of an update', async () => {
  await apply('fail-apply')
  const messages = happened
    .filter(({ object }) => object.kind === 'Workspace')
    .flatMap(({ object }) => conditionsOf(object as Parameters<typeof conditionsOf>[0]).map(({ message }) => message))
    .filter((message) => message !== undefined)
  expect(messages.map((message) => message.split(':')[0])).toEqual(['create failed', 'update failed'])
})

test('what cannot be played ends in an error, not in silence', async () => {
  const { client } = objects
  const broken = { ...client, create: async () => Promise.reject(new Error('no room')) }
  const player = startPlayer({ client: broken, api: namespaced, terraform: asWritten })
  for (const each of players) each.stop()
  players = []
  objects.put(namespaced.workspace, given('sample-ns'))
  await player.whenQuiet()
  expect(() => player.stop()).toThrow('the player stumbled: Error: no room')
})
