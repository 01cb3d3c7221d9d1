import { expect, test } from 'vitest'
import { apply } from '../../../test/applies.ts'
import { annotations } from '../../api/keys.ts'
import { Secret } from '../../api/neighbours.ts'
import { type Key, keyOf, type Resource, tellKey } from '../../api/resource.ts'
import { type Workspace, workspaceAPIs } from '../../api/workspace.ts'
import { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'
import type { Read } from '../../runtime/cache.ts'
import { workspaceTemplateApplyController } from './index.ts'
import { applyIndexes } from './relations.ts'

const { wokenBy } = workspaceTemplateApplyController({ workspaceAPI: 'auto', isCrossNamespaceAllowed: false })

test.each(['tf.upbound.io', 'tf.m.upbound.io'] as const)(
  'a Secret with outputs wakes those who use them, in %s',
  (group) => {
    const { workspace: resource, isNamespaced } = workspaceAPIs[group]
    const writer: Workspace = {
      apiVersion: `${group}/v1beta1`,
      kind: 'Workspace',
      metadata: {
        name: 'net',
        ...(isNamespaced && { namespace: 'team' }),
        annotations: { [annotations.apply]: 'team/net' },
      },
      spec: { forProvider: { source: 'Inline', module: '' } },
    }
    const user: WorkspaceTemplateApply = { ...apply, spec: { ...apply.spec, waitForWorkspaces: [{ name: 'net' }] } }
    const read = {
      get: (of: Resource, key: Key) =>
        of === resource && tellKey(key) === tellKey(keyOf(writer)) ? writer : undefined,
      keysAt: (_: Resource, index: string, value: string) =>
        applyIndexes[index]?.(user).includes(value) ? [keyOf(user)] : [],
    } as unknown as Read
    const secret: Secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        namespace: 'team',
        name: 'connection',
        ownerReferences: [{ apiVersion: `${group}/v1beta1`, kind: 'Workspace', name: 'net', uid: 'u' }],
      },
    }
    const woken = wokenBy
      .filter((source) => source.resource === Secret)
      .flatMap((source) => source.wakes(secret, WorkspaceTemplateApply, read))
    expect(woken.map(tellKey)).toContain('team/vpc')
  },
)

test('a Workspace wakes the apply whose it would be by its name, although nothing on it says so', () => {
  const read = { get: () => undefined, keysAt: () => [] } as unknown as Read
  const woken = (name: string, namespace?: string) => {
    const { workspace: resource } = workspaceAPIs[namespace === undefined ? 'tf.upbound.io' : 'tf.m.upbound.io']
    const source = wokenBy.find((each) => each.resource === resource)
    const metadata = { name, ...(namespace !== undefined && { namespace }) }
    const workspace = { apiVersion: `${resource.group}/v1beta1`, kind: 'Workspace', metadata }
    return source?.wakes(workspace, WorkspaceTemplateApply, read).map(tellKey)
  }
  expect(woken('team.vpc')).toEqual(['team/vpc'])
  expect(woken('vpc', 'team')).toEqual(['team/vpc'])
})
