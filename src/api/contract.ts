// Cluster API's rules as names: labels, annotations and words that core and clusterctl look for.

// On a CRD: which of its versions speaks this contract. Core finds a provider's objects by it.
export const contractLabel = 'cluster.x-k8s.io/v1beta2'
// On everything a provider ships.
export const providerLabel = 'cluster.x-k8s.io/provider'
// On a CRD: clusterctl moves its objects though nothing it moves owns them.
export const moveLabel = 'clusterctl.cluster.x-k8s.io/move'
// On an object that clusterctl does not move before it is gone: it looks for it before it pauses, so it is there from birth.
export const blockMoveAnnotation = 'clusterctl.cluster.x-k8s.io/block-move'
// On an object that clusterctl deletes in the source after it was moved: nothing may be torn down for it.
export const deleteForMoveAnnotation = 'clusterctl.cluster.x-k8s.io/delete-for-move'
// On an object that the topology controller only tries: it asks what would become of it.
export const topologyDryRunAnnotation = 'topology.cluster.x-k8s.io/dry-run'
// On an object that core made of a template: the name of that.
export const clonedFromAnnotation = 'cluster.x-k8s.io/cloned-from-name'
// On an object whose life somebody else looks after.
export const managedByAnnotation = 'cluster.x-k8s.io/managed-by'
// On an object that is not to be touched for now.
export const pausedAnnotation = 'cluster.x-k8s.io/paused'
// What carries one of these is none of our business.
export const handsOffAnnotations = [managedByAnnotation, deleteForMoveAnnotation] as const
// On what belongs to a Cluster: its name.
export const clusterNameLabel = 'cluster.x-k8s.io/cluster-name'
// On what a MachineDeployment made: its name.
export const deploymentNameLabel = 'cluster.x-k8s.io/deployment-name'
// On an object of a manager that was started with --watch-filter.
export const watchFilterLabel = 'cluster.x-k8s.io/watch-filter'
// Of Secrets that core and clusterctl look for: it cannot be changed once one is there.
export const clusterSecretType = 'cluster.x-k8s.io/secret'
