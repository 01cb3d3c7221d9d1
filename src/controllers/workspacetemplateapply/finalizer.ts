// The finalizers of an apply: ours, and the one that the predecessor left on old applies, which goes as soon as ours is there.
export const finalizer = {
  ours: 'infrastructure.cluster.x-k8s.io/workspacetemplateapply',
  old: 'infrastructure.cluster.x-k8s.io/finalizer',
} as const
