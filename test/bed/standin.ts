// Stand-in provider kinds: what Cluster API core needs to see of an infrastructure and a control plane provider, filled
// in by hand by whoever plays the provider. They prove the bed; CAPT's own kinds need none of them.
import type { Kube, KubeObject, ObjectRef } from './kube.ts'

const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }

function standInCRD(group: string, kind: string, provider: string): KubeObject {
  const singular = kind.toLowerCase()
  const plural = `${singular}s`
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${plural}.${group}`,
      labels: {
        'cluster.x-k8s.io/v1beta2': 'v1alpha1', // which of our versions speaks which contract; core finds us by it
        'cluster.x-k8s.io/provider': provider,
      },
    },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, listKind: `${kind}List`, plural, singular, categories: ['cluster-api'] },
      versions: [
        {
          name: 'v1alpha1',
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema: { type: 'object', properties: { spec: anything, status: anything } } },
        },
      ],
    },
  }
}

export const standInCRDs: readonly KubeObject[] = [
  standInCRD('infrastructure.cluster.x-k8s.io', 'BedCluster', 'infrastructure-bed'),
  standInCRD('controlplane.cluster.x-k8s.io', 'BedControlPlane', 'control-plane-bed'),
]

// What an infrastructure provider tells when its network stands and the cluster's address is known.
export async function tellNetworkMade(
  kube: Kube,
  ref: ObjectRef,
  { host, port }: { host: string; port: number },
): Promise<void> {
  await kube.patch(ref, { spec: { controlPlaneEndpoint: { host, port } } })
  await kube.patch(ref, { status: { initialization: { provisioned: true }, conditions: [isTrue('Ready')] } }, 'status')
}

// What a control plane provider tells when its API server answers.
export async function tellControlPlaneMade(kube: Kube, ref: ObjectRef): Promise<void> {
  const status = {
    initialization: { controlPlaneInitialized: true },
    externalManagedControlPlane: true,
    version: 'v1.36.3',
    conditions: [isTrue('Available')],
  }
  await kube.patch(ref, { status }, 'status')
}

function isTrue(type: string) {
  return { type, status: 'True', reason: type, message: '', lastTransitionTime: new Date().toISOString() }
}
