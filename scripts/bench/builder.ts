// The engine of the clusters that are measured: it writes what Crossplane's provider was recorded to write, and builds nothing. It
// runs in our own process, so that its time is not the manager's.
import { type Key, type KubeObject, keyOf, type Resource, tellRef } from '../../src/api/resource.ts'
import { type ProviderConfig, type WorkspaceAPI, workspaceAPIs } from '../../src/api/workspace.ts'
import type { Client } from '../../src/kube/client.ts'
import type { Workload } from '../../test/bed/workload.ts'
import { type Outcome, type Player, startPlayer } from '../../test/player.ts'

export const api: WorkspaceAPI = workspaceAPIs['tf.m.upbound.io']

// Every cluster has the same API server. How long a run takes is told by its namespace.
export async function startBuilder(
  client: Client,
  workload: Workload,
  secondsIn: (namespace: string) => number,
): Promise<Player> {
  const config = api.clusterProviderConfig as Resource<ProviderConfig>
  const named = { apiVersion: `${config.group}/${config.version}`, kind: config.kind, metadata: { name: 'default' } }
  await client.create(config, { ...named, spec: {} })
  return startPlayer({
    client: remembering(client),
    api,
    terraform: ({ cluster_name: name, vpc_name: vpc }) => (vpc === undefined ? eks(name, workload) : network(name)),
    buildMs: ({ metadata: { namespace = '' } }) => secondsIn(namespace) * 1000,
  })
}

const zones = ['a', 'b', 'c'].map((zone) => `ap-northeast-1${zone}`)

function network(name: unknown): Outcome {
  return {
    outputs: {
      vpc_id: { value: `vpc-${String(name)}` },
      private_subnets: { value: zones.map((zone) => `subnet-${String(name)}-${zone}`) },
      public_subnets: { value: [] },
      azs: { value: zones },
    },
  }
}

function eks(name: unknown, { host, port, ca, kubeconfig }: Workload): Outcome {
  return {
    outputs: {
      cluster_name: { value: name },
      cluster_version: { value: '1.34' },
      cluster_endpoint: { value: `https://${host}:${port}` },
      cluster_certificate_authority_data: { value: Buffer.from(ca).toString('base64') },
      kubeconfig: { value: kubeconfig, sensitive: true },
    },
  }
}

// Of what nobody else writes it asks once: it must not be the one that the API server is busy with.
function remembering(client: Client): Client {
  const known = new Map<string, KubeObject>()
  async function keep<T extends KubeObject>(resource: Resource<T>, asked: Promise<T>): Promise<T> {
    const object = await asked
    if (resource.plural !== api.workspace.plural) known.set(tellRef(resource, keyOf(object)), object)
    return object
  }
  return {
    ...client,
    get: async <T extends KubeObject>(resource: Resource<T>, key: Key) =>
      (known.get(tellRef(resource, key)) as T | undefined) ?? keep(resource, client.get(resource, key)),
    create: async (resource, object, how) => keep(resource, client.create(resource, object, how)),
    patch: async (resource, key, change, how) => keep(resource, client.patch(resource, key, change, how)),
  }
}
