// What a Cluster says, which repeats what its parts say, without that. Pure.
import type { KubeObject } from '../api/resource.ts'
import { conditionOf } from './read.ts'
import { isPaused, type Says, saysOf } from './says.ts'
import { isWorse, type Standing, standingFor } from './words.ts'

// `below` is how the worst of its parts is. What it says beside them is its own: that core cannot reach it, for one.
export function clusterSays(cluster: KubeObject, below: Standing): Says {
  const says = saysOf(cluster)
  if (says.standing === 'ready') return says
  const { message: all = '', ...rest } = says
  const isThere = conditionOf(cluster, 'ControlPlaneAvailable')?.status === 'True'
  const message = below === 'ready' ? all : ownLines(all, isThere)
  const isCores = says.standing === 'waiting' && message.startsWith('* ')
  const own = isCores ? ownStanding(cluster, message) : says.standing
  const isOwn = below === 'ready' || isPaused(cluster) || isWorse(own, below)
  return { ...rest, standing: isOwn ? own : below, ...(message && { message }) }
}

// That core has not connected yet, and that it has lost the connection, have one reason.
function ownStanding(cluster: KubeObject, message: string): Standing {
  const topology = conditionOf(cluster, 'TopologyReconciled')
  const isFailed = topology?.status === 'False' && standingFor(topology.reason) === 'failed'
  return isFailed || message.includes('probe failed') ? 'failed' : 'working'
}

// Core writes `* InfrastructureReady: why`, and what belongs to it indented below. What is told below the Cluster is none of its
// own, nor is that it cannot be reached before it is there.
const echoed = /^\* (?:InfrastructureReady|ControlPlane\w+|Workers\w+|Deleting)\b/
const unreached = /^\* RemoteConnectionProbe\b/

function ownLines(message: string, isThere: boolean): string {
  const blocks = message.split(/\n(?=\* )/)
  return blocks
    .filter((block) => block.startsWith('* ') && !echoed.test(block) && (isThere || !unreached.test(block)))
    .join('\n')
    .trim()
}
