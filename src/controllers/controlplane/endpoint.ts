// Where the API server of a control plane is: what is written down of it, and what is said of it. Pure.
import { CAPTControlPlane } from '../../api/captcontrolplane.ts'
import { type Said, vocabulary } from '../../api/condition.ts'
import type { Cluster } from '../../api/neighbours.ts'
import { isWithin } from '../../api/record.ts'
import type { Effect } from '../../runtime/plan.ts'
import { type Connection, readConnection } from '../../secrets/connection.ts'
import { tellEndpoint } from '../../secrets/endpoint.ts'
import type { Seen } from './seen.ts'

const say = vocabulary(CAPTControlPlane.words)

interface Address {
  readonly said: Said
  readonly effects: readonly Effect[]
}

// Outputs first, the Secret second. Core keeps the first for ever; a later one is followed here.
export function endpointOf({ controlPlane, eks, secrets: { connection } }: Seen, cluster: Cluster): Address {
  const read: Connection = typeof connection === 'string' ? readConnection(eks?.status?.outputs) : connection
  const { controlPlaneEndpoint: written } = controlPlane.spec
  const endpoint = read.endpoint ?? written
  if (!endpoint) {
    const message = eks?.status?.applied
      ? (read.complaints[0] ?? '')
      : 'output cluster_endpoint is known when the control plane is built'
    return { said: say('EndpointReady', 'Unknown', message), effects: [] }
  }
  const change = { spec: { controlPlaneEndpoint: endpoint } }
  const effects: readonly Effect[] = isWithin(endpoint, written)
    ? []
    : [{ do: 'patch', resource: CAPTControlPlane, object: controlPlane, change }]
  const first = cluster.spec?.controlPlaneEndpoint
  const isChanged = first?.host !== undefined && !isWithin(endpoint, first)
  if (!isChanged) return { said: say('EndpointReady', 'Known', tellEndpoint(endpoint)), effects }
  const message = `it is ${tellEndpoint(endpoint)} now, and so in the kubeconfigs; Cluster API keeps the first one, ${first.host}, in the Cluster`
  return { said: say('EndpointReady', 'Changed', message), effects }
}
