// As much of Velero as matters to us: what a backup of a namespace holds, and how it comes back into a cluster that lives. As in its restore, owner
// references, uids and status are gone; finalizers, labels and annotations come back; what is there already is left as it is.
import { labels } from '../src/api/keys.ts'
import { stateNamespace } from '../src/terraform/statesecret.ts'
import type { Kube, KubeObject } from './bed/kube.ts'

const secrets = ['v1', 'Secret'] as const
const clusters = ['cluster.x-k8s.io/v1beta2', 'Cluster'] as const
// Of what has no place of its own Velero goes by the alphabet.
const others = [
  ['infrastructure.cluster.x-k8s.io/v1beta1', 'CAPTCluster'],
  ['controlplane.cluster.x-k8s.io/v1beta1', 'CAPTControlPlane'],
  ['tf.m.upbound.io/v1beta1', 'ProviderConfigUsage'],
  ['tf.m.upbound.io/v1beta1', 'Workspace'],
  ['infrastructure.cluster.x-k8s.io/v1beta1', 'WorkspaceTemplateApply'],
  ['infrastructure.cluster.x-k8s.io/v1beta1', 'WorkspaceTemplate'],
] as const

// The order of kinds: since Velero 1.9.3 Clusters are the last, before that they came soon after Secrets.
export const orders = {
  now: [secrets, ...others, clusters].map(([, kind]) => kind),
  before: [secrets, clusters, ...others].map(([, kind]) => kind),
}

// All of that namespace, and what is kept of its states elsewhere: those of its applies, what the engine remembers, the locks.
export async function backUp(kube: Kube, namespace: string): Promise<readonly KubeObject[]> {
  const isOfIt = ({ metadata: { name, labels: marks } }: KubeObject) =>
    name.includes(`tfstate-${namespace}.`) || marks?.[labels.apply]?.startsWith(`${namespace}.`) === true
  const listed = async ([apiVersion, kind]: readonly [string, string], where: string) =>
    (await kube.list(apiVersion, kind, where)).map((each) => ({ ...each, apiVersion, kind }))
  const own = await Promise.all([secrets, clusters, ...others].map(async (each) => listed(each, namespace)))
  const kept = await Promise.all(
    [secrets, ['coordination.k8s.io/v1', 'Lease'] as const].map(async (each) => listed(each, stateNamespace)),
  )
  return [...own.flat(), ...kept.flat().filter(isOfIt)]
}

export function sorted(objects: readonly KubeObject[], order: readonly string[]): readonly KubeObject[] {
  const placeOf = ({ kind }: KubeObject) => (order.includes(kind) ? order.indexOf(kind) : order.length)
  return objects.toSorted((one, other) => placeOf(one) - placeOf(other))
}

// One after the other, in that order. Since Velero 1.10.2 who manages which field comes back, too.
export async function restore(
  kube: Kube,
  objects: readonly KubeObject[],
  { withManagers = false } = {},
): Promise<void> {
  const documents = objects.map((each) => JSON.stringify(stripped(each))).join('\n---\n')
  await kube.kubectl(['create', '-f', '-'], documents).catch((error: unknown) => {
    const lines = String(error)
      .split('\n')
      .filter((line) => /^(Error|error)\b/.test(line.replace(/^.*ended with \d+: /, '')))
    if (lines.some((line) => !line.includes('already exists'))) throw error
  })
  if (!withManagers) return
  for (const each of objects) {
    const { managedFields } = each.metadata as { readonly managedFields?: unknown }
    await kube.patch(each, { metadata: { managedFields } })
  }
}

function stripped(object: KubeObject): KubeObject {
  const { status: _, metadata, ...rest } = object
  const { name, namespace, labels: marks, annotations, finalizers } = metadata
  const told = { 'velero.io/backup-name': 'nightly', 'velero.io/restore-name': 'nightly-1' }
  return {
    ...rest,
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      labels: { ...marks, ...told },
      ...(annotations && { annotations }),
      ...(finalizers && { finalizers }),
    },
  }
}
