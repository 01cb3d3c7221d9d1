// How clusters came to be: what a watch saw of each, moment by moment, and whose the time between was. By one clock.
import { CAPTCluster } from '../../src/api/captcluster.ts'
import { CAPTControlPlane } from '../../src/api/captcontrolplane.ts'
import type { Condition } from '../../src/api/condition.ts'
import { Cluster } from '../../src/api/neighbours.ts'
import type { Key, KubeObject } from '../../src/api/resource.ts'
import type { Client } from '../../src/kube/client.ts'
import { isConverged } from '../../test/lives.ts'
import { api } from './builder.ts'
import { watchFor } from './sightings.ts'

// Seconds of one cluster, from the moment its first object was sent.
export interface Course {
  readonly capt: number // until its control plane was ready, as the three shares are
  readonly engine: number
  readonly core: number
  readonly ready: number
  readonly available: number
}

export interface Courses {
  // Waits until all are ready; then, until core calls them available.
  ready(keys: readonly Key[]): Promise<void>
  of(keys: readonly Key[], began: readonly number[]): Promise<readonly Course[]>
  stop(): void
}

export function watchCourses(client: Client): Courses {
  const clusters = watchFor(client, Cluster)
  const networks = watchFor(client, CAPTCluster)
  const controlPlanes = watchFor(client, CAPTControlPlane)
  const workspaces = watchFor(client, api.workspace)
  const suffixed = (keys: readonly Key[], suffix: string) => keys.map((key) => ({ ...key, name: key.name + suffix }))
  const isReady = (object: CAPTControlPlane) => isTrue(object, 'Ready')
  return {
    ready: async (keys) => void (await controlPlanes.of(keys, isReady)),
    async of(keys, began) {
      const [vpcs, eks] = [suffixed(keys, '-vpc'), suffixed(keys, '-eks-controlplane')]
      const moments = [
        began,
        await networks.of(keys, isOwned),
        await workspaces.of(vpcs, () => true),
        await workspaces.of(vpcs, isConverged),
        await networks.of(keys, ({ status }) => status?.initialization?.provisioned === true),
        await clusters.of(keys, ({ status }) => status?.initialization?.infrastructureProvisioned === true),
        await workspaces.of(eks, () => true),
        await workspaces.of(eks, isConverged),
        await controlPlanes.of(keys, isReady),
        await clusters.of(keys, (cluster) => isTrue(cluster, 'Available')),
      ]
      return keys.map((_, at) => courseOf(moments.map((each) => each[at] ?? Number.NaN)))
    },
    stop() {
      for (const each of [clusters, networks, controlPlanes, workspaces]) each.stop()
    },
  }
}

// Everybody does two things for a cluster before core calls it available, in turn, but for us, who do four.
function courseOf(moments: readonly number[]): Course {
  const at = (index: number) => (moments[index] ?? Number.NaN) / 1000
  const from = (index: number) => Math.max(0, at(index + 1) - at(index)) // two watches may tell in another order
  return {
    core: from(0) + from(4),
    capt: from(1) + from(3) + from(5) + from(7),
    engine: from(2) + from(6),
    ready: at(8) - at(0),
    available: at(9) - at(0),
  }
}

function isOwned({ metadata }: KubeObject): boolean {
  return metadata.ownerReferences?.some(({ kind }) => kind === Cluster.kind) ?? false
}

interface Speaking {
  readonly status?: { readonly conditions?: readonly Pick<Condition, 'type' | 'status'>[] | undefined } | undefined
}

function isTrue({ status }: Speaking, type: string): boolean {
  return status?.conditions?.some((each) => each.type === type && each.status === 'True') ?? false
}
