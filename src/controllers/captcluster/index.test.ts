import { expect, test } from 'vitest'
import { messageOf, now } from '../../../test/applies.ts'
import { aVpc, but, cluster, controlPlane, gone, network } from '../../../test/controlplanes.ts'
import { CAPTControlPlane } from '../../api/captcontrolplane.ts'
import { Cluster } from '../../api/neighbours.ts'
import type { KubeObject, Resource } from '../../api/resource.ts'
import { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'
import type { Read } from '../../runtime/cache.ts'
import type { Live } from '../../runtime/controller.ts'
import { captClusterController } from './index.ts'

const live = { now: () => now } as unknown as Live

// What it says when it is deleted beside what is there.
async function leavingBeside(there: ReadonlyMap<Resource, KubeObject>): Promise<string> {
  const read = {
    get: (resource: Resource) => there.get(resource),
    byIndex: (resource: Resource, index: string, value: string) =>
      index === 'cluster' && value === 'team/demo' ? [there.get(resource)].filter(Boolean) : [],
  } as unknown as Read
  return messageOf(await captClusterController.plan(but(network, gone), read, live), 'Deleting')
}

test('a network that goes knows the control plane in it, whether their Cluster is there or not', async () => {
  const both: [Resource, KubeObject][] = [
    [WorkspaceTemplateApply, aVpc('done')],
    [CAPTControlPlane, controlPlane],
  ]
  const waits = 'waits for CAPTControlPlane team/demo, which is in this network and stays'
  expect(await leavingBeside(new Map([...both, [Cluster, cluster]]))).toContain(waits)
  expect(await leavingBeside(new Map(both))).toContain(waits)
  expect(await leavingBeside(new Map(both.slice(0, 1)))).toBe(
    'waits for WorkspaceTemplateApply team/demo-vpc: it is told to go',
  )
})
