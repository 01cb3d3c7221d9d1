// The finalizer of a control plane, which the predecessor spelt the same.
export const finalizer = 'controlplane.cluster.x-k8s.io/captcontrolplane'
