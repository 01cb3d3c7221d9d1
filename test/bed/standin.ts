// Stand-in provider kinds: what Cluster API core needs to see of an infrastructure and a control plane provider, filled
// in by hand by whoever plays the provider. They prove the bed; CAPT's own kinds need none of them.
import { crd } from '../../scripts/generated/crd.ts'
import { contractLabel, providerLabel } from '../../src/api/contract.ts'
import type { Kube, KubeObject, ObjectRef } from './kube.ts'

const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }

function standInCRD(group: string, kind: string, provider: string): KubeObject {
  return {
    ...crd({
      group,
      kind,
      plural: `${kind.toLowerCase()}s`,
      categories: ['cluster-api'],
      scope: 'Namespaced',
      version: 'v1alpha1',
      labels: { [contractLabel]: 'v1alpha1', [providerLabel]: provider },
      schema: { type: 'object', properties: { spec: anything, status: anything } },
      subresources: { status: {} },
    }),
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
