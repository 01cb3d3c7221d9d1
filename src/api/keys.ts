// Labels, annotations and finalizers of our own, all under one prefix: where each is and what it says.
const prefix = 'capt.appthrust.io/'

export const labels = {
  cluster: `${prefix}cluster`, // on what we create: the Cluster it is for
  apply: `${prefix}apply`, // on what we create: <namespace>.<name> of the apply, with a hash when that is too long
  watch: `${prefix}watch`, // on Secrets and ConfigMaps that variablesFrom reads: a change of them wakes us
  record: `${prefix}record`, // on Secrets of the engine: memory, state (a copy of one) or plan
  recordOf: `${prefix}record-of`, // on those: a hash of the Workspace they are about
} as const

export const annotations = {
  apply: `${prefix}apply`, // on what we create: <namespace>/<name> of the apply
  revision: `${prefix}revision`, // on what we write: hash of what we asked for
  workspace: `${prefix}workspace`, // on an apply, and on whoever asked for it: <group>/<name> of its Workspace; on a record, with its namespace
  externalName: `${prefix}external-name`, // on an apply: that of a Workspace we adopted, when it is not the one we give
  // A user's word on an apply, which is copied to its Workspace.
  adopt: `${prefix}adopt`,
  approve: `${prefix}approve`,
  unlock: `${prefix}unlock`,
  rollback: `${prefix}rollback`,
  allowDowngrade: `${prefix}allow-downgrade`, // on a CAPTControlPlane
  allowProviderConfigChange: `${prefix}allow-provider-config-change`, // on a CAPTCluster or CAPTControlPlane: the account is the same
  forceDelete: `${prefix}force-delete`,
  skipCleanup: `${prefix}skip-cleanup`, // on a CAPTControlPlane: what was made inside of the cluster is not removed first
  cleanup: `${prefix}cleanup`, // on the apply of a control plane: pending, and done once nothing inside of it reaches out
  keepPaused: `${prefix}keep-paused`,
  allowedNamespaces: `${prefix}allowed-namespaces`, // on a ProviderConfig for the whole cluster
  allowedStates: `${prefix}allowed-states`, // on a Namespace: states with names of other places that its applies may work on, divided by commas
  // On a Workspace, told by us and the engine.
  guard: `${prefix}guard`, // Hold: a plan that deletes or replaces waits for approval
  plan: `${prefix}plan`, // the last plan: src/terraform/plannote.ts
  cli: `${prefix}cli`, // which command line wrote the state: tofu 1.12.6
  paused: `${prefix}paused`, // that its pause is ours
  tokenExpires: `${prefix}token-expires`, // on a Secret with a kubeconfig: until when its token is good, or never
  tokenRenews: `${prefix}token-renews`, // on the same: when we are to have the next one, or never
  state: `${prefix}state`, // on the copy of a state: src/terraform/statecopy.ts; on <apply>-state: src/terraform/luggage.ts
  before: `${prefix}before-pause`, // on a Workspace in our pause: src/controllers/workspacetemplateapply/stillness.ts
  moved: `${prefix}moved`, // on a Workspace: since when it may be moved away, or is; on <apply>-state: the same, once it was checked
} as const

// On every Workspace of ours: no engine destroys under a finalizer that is not its own.
export const holdFinalizer = `${prefix}hold`

// The field manager of a cluster's kubeconfigs, and what it notes on those with a token in them.
export const secretsManager = 'capt-controlplane'
export const tokenNotes = [annotations.tokenExpires, annotations.tokenRenews] as const
