// The Secrets of a control plane, by their metadata: in one line while there is nothing to say of them. Pure.
import { annotations } from '../api/keys.ts'
import { Secret } from '../api/neighbours.ts'
import { groupOf, type KubeObject } from '../api/resource.ts'
import { copyName, roles } from '../secrets/copies.ts'
import { folded } from './fold.ts'
import type { Node } from './node.ts'
import { conditionOf, isOwnedBy } from './read.ts'
import type { Situation } from './situation.ts'

export function secretsIn(
  { objects, name }: Situation,
  controlPlane: KubeObject | undefined,
  now: Date,
): readonly Node[] {
  const usual = new Set(roles.map((role) => copyName(role, name)))
  const secrets = objects.filter(
    (each) =>
      each.kind === Secret.kind &&
      groupOf(each.apiVersion) === Secret.group &&
      (usual.has(each.metadata.name) || (controlPlane !== undefined && isOwnedBy(each, controlPlane))),
  )
  const nodes = secrets.map((each) => secretNode(each, now))
  const trouble = controlPlane && conditionOf(controlPlane, 'SecretsReady')
  return trouble?.status === 'False' ? nodes : folded(nodes, 1)
}

function secretNode({ kind, metadata }: KubeObject, now: Date): Node {
  const { name, namespace, creationTimestamp } = metadata
  const until = metadata.annotations?.[annotations.tokenExpires]
  const isOver = until !== undefined && Date.parse(until) <= now.getTime()
  const message = 'its token has expired, and nobody has renewed it: see whether capt-manager runs'
  return {
    kind,
    name,
    ...(namespace !== undefined && { namespace }),
    ...(isOver
      ? { standing: 'failed', state: 'TokenExpired', reason: 'TokenExpired', message, since: until }
      : { standing: 'ready', state: 'Ready', ...(creationTimestamp !== undefined && { since: creationTimestamp }) }),
    ...(until !== undefined && !isOver && !Number.isNaN(Date.parse(until)) && { until }),
    children: [],
  }
}
