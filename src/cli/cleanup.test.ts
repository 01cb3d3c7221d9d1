import { expect, test } from 'vitest'
import { objectsInMemory } from '../../test/objects.ts'
import { annotations, holdFinalizer } from '../api/keys.ts'
import { crossplane, type Workspace, workspaceAPIs } from '../api/workspace.ts'
import { WorkspaceTemplateApply } from '../api/workspacetemplateapply.ts'
import type { Client } from '../kube/client.ts'
import { cleanUpMoved } from './cleanup.ts'

const { workspace: near } = workspaceAPIs['tf.m.upbound.io']
const { workspace: wide } = workspaceAPIs['tf.upbound.io']
const forProvider = { source: 'Inline', module: '' } as const

function aWorkspace(name: string, { notes = {}, spec = {}, namespace = 'team' } = {}): Workspace {
  return {
    apiVersion: 'tf.m.upbound.io/v1beta1',
    kind: 'Workspace',
    metadata: {
      name,
      namespace,
      finalizers: [holdFinalizer, crossplane.finalizer],
      annotations: {
        [annotations.apply]: `${namespace}/${name}`,
        [annotations.moved]: 'noon',
        [crossplane.paused]: 'true',
        ...notes,
      },
    },
    spec: { forProvider, managementPolicies: ['Observe', 'Create', 'Update'], ...spec },
  }
}

const { kind } = WorkspaceTemplateApply
const apiVersion = 'infrastructure.cluster.x-k8s.io/v1beta1'
const anApply = { apiVersion, kind, metadata: { namespace: 'team', name: 'net' } }

function aWorld(...workspaces: readonly Workspace[]) {
  const objects = objectsInMemory()
  for (const each of workspaces) objects.put(near, each)
  const said: string[] = []
  const clean = async (isWanted = true, meanwhile = () => {}) =>
    cleanUpMoved({
      client: objects.client,
      namespace: 'team',
      say: (line) => void said.push(line),
      async agrees() {
        meanwhile()
        return isWanted
      },
    })
  return { objects, said, clean }
}

test('what a move left behind goes: its engine may let go of it, and keeps what it built', async () => {
  const { objects, clean, said } = aWorld(aWorkspace('net'))
  expect(await clean()).toBe(true)
  const { metadata } = objects.get(near, { namespace: 'team', name: 'net' }) ?? {}
  expect(metadata?.deletionTimestamp).toBeDefined()
  expect(metadata?.finalizers).toEqual([crossplane.finalizer])
  expect(metadata?.annotations?.[crossplane.paused]).toBeUndefined()
  expect(said.join('\n')).toContain('Of states in namespace capt-terraform-state copies are kept')
  expect(said.join('\n')).toContain('those in other places stay there, as they are')
  expect(said.at(-1)).toBe('removed 1')
})

test('an engine that writes at the same moment is no trouble', async () => {
  const { objects, said } = aWorld(aWorkspace('net'))
  const key = { namespace: 'team', name: 'net' }
  let writes = 0
  const patch: Client['patch'] = async (...args) => {
    if (++writes < 3) objects.change(near, key, { metadata: { annotations: { engine: `${writes}` } } })
    return objects.client.patch(...args)
  }
  const client = { ...objects.client, patch }
  await cleanUpMoved({ client, namespace: 'team', say: (line) => void said.push(line), agrees: async () => true })
  expect(objects.get(near, key)?.metadata.finalizers).toEqual([crossplane.finalizer])
  expect(writes).toBe(3)
})

test('also in an API without namespaces', async () => {
  const { objects, clean } = aWorld()
  const { metadata } = aWorkspace('team.net', { notes: { [annotations.apply]: 'team/net' } })
  const { namespace: _, ...everywhere } = metadata
  const spec = { forProvider, deletionPolicy: 'Orphan' as const }
  objects.put(wide, {
    ...aWorkspace('x'),
    apiVersion: 'tf.upbound.io/v1beta1',
    metadata: everywhere,
    spec,
  } as Workspace)
  await clean()
  expect(objects.get(wide, { name: 'team.net' })?.metadata.finalizers).toEqual([crossplane.finalizer])
})

test.each<[string, Workspace, boolean]>([
  ['that was not moved', aWorkspace('net', { notes: { [annotations.moved]: undefined } }), false],
  ['of another namespace', aWorkspace('net', { namespace: 'other' }), false],
  ['whose apply is there: it was only paused, or backed up', aWorkspace('net'), true],
])('a Workspace %s stays', async (_, workspace, isApplyThere) => {
  const { objects, clean, said } = aWorld(workspace)
  if (isApplyThere) objects.put(WorkspaceTemplateApply, anApply)
  await clean()
  expect(said).toEqual(['no Workspace of namespace team was left behind by a move'])
  expect(objects.list(near)[0]?.metadata.deletionTimestamp).toBeUndefined()
})

test('nothing goes that would be destroyed, nor when whoever is asked does not want it', async () => {
  const { clean, objects } = aWorld(aWorkspace('net', { spec: { managementPolicies: ['*'] } }))
  await expect(clean()).rejects.toThrow('Workspace team/net would be destroyed with all it built: it is left as it is')
  expect(await clean(false)).toBe(false)
  expect(objects.list(near)[0]?.metadata.deletionTimestamp).toBeUndefined()
})

test.each<[string, (objects: ReturnType<typeof objectsInMemory>) => void]>([
  ['its apply has come back', (objects) => objects.put(WorkspaceTemplateApply, anApply)],
  [
    'it goes on',
    (objects) =>
      objects.change(
        near,
        { namespace: 'team', name: 'net' },
        { metadata: { annotations: { [annotations.moved]: null } } },
      ),
  ],
])('one stays of which, while somebody was asked, %s', async (_, happens) => {
  const { clean, objects, said } = aWorld(aWorkspace('net'))
  await clean(true, () => happens(objects))
  expect(objects.list(near)[0]?.metadata.deletionTimestamp).toBeUndefined()
  expect(said.slice(-2)).toEqual(['Workspace team/net: it is looked after here again, and stays', 'removed 0'])
})

test('one that may be destroyed by now stays, though it was kept when somebody was asked', async () => {
  const { clean, objects } = aWorld(aWorkspace('net'))
  const widen = () => objects.change(near, { namespace: 'team', name: 'net' }, { spec: { managementPolicies: ['*'] } })
  await expect(clean(true, widen)).rejects.toThrow('would be destroyed with all it built')
  expect(objects.list(near)[0]?.metadata.deletionTimestamp).toBeUndefined()
})
