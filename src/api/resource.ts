// A kind as the wire and the cache need it: where its objects are, what one is called, how much of it is kept.

export interface ObjectMeta {
  readonly name: string
  readonly namespace?: string
  readonly uid?: string
  readonly generation?: number
  readonly resourceVersion?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly finalizers?: readonly string[]
  readonly ownerReferences?: readonly OwnerReference[]
  readonly creationTimestamp?: string
  readonly deletionTimestamp?: string
  readonly managedFields?: readonly ManagedFields[] // kept only of Secrets, and only what we wrote into them
}

// Who owns which fields.
export interface ManagedFields {
  readonly manager?: string
  readonly operation?: string // Apply or Update
  readonly apiVersion?: string
  readonly fieldsV1?: {
    readonly 'f:data'?: Readonly<Record<string, unknown>>
    readonly 'f:metadata'?: { readonly 'f:annotations'?: Readonly<Record<string, unknown>> }
  }
}

export interface OwnerReference {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly controller?: boolean
  readonly blockOwnerDeletion?: boolean
}

export interface KubeObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: ObjectMeta
}

export interface Resource<T extends KubeObject = KubeObject> {
  readonly group: string // empty: the core group
  readonly version: string
  readonly kind: string
  readonly plural: string
  readonly isClusterScoped?: true
  readonly isOptional?: true // somebody else serves it, or nobody: that it is not there is no trouble
  readonly isSecret?: true // its bytes are never cached: it is watched as metadata and read when needed
  // What the cache keeps of an object.
  keep(object: T): T
}

// Which object of a kind.
export interface Key {
  readonly name: string
  readonly namespace?: string
}

export function keyOf(object: Pick<KubeObject, 'metadata'>): Key {
  return beside(object, object.metadata.name)
}

// Of that name, where the object is.
export function beside({ metadata: { namespace } }: Pick<KubeObject, 'metadata'>, name: string): Key {
  return namespace === undefined ? { name } : { name, namespace }
}

// What an object refers to: beside it, unless the reference says where.
export function referredBy(
  object: Pick<KubeObject, 'metadata'>,
  { name, namespace }: { readonly name: string; readonly namespace?: string | undefined },
): Key {
  return namespace === undefined ? beside(object, name) : { name, namespace }
}

export function tellKey({ name, namespace }: Key): string {
  return namespace === undefined ? name : `${namespace}/${name}`
}

// The reverse: no name holds a slash.
export function readKey(text: string): Key {
  const at = text.indexOf('/')
  return at < 0 ? { name: text } : { namespace: text.slice(0, at), name: text.slice(at + 1) }
}

export function tellRef({ kind }: Pick<Resource, 'kind'>, key: Key): string {
  return `${kind} ${tellKey(key)}`
}

export function tellObject(object: KubeObject): string {
  return tellRef(object, keyOf(object))
}

export function apiVersionOf({ group, version }: Pick<Resource, 'group' | 'version'>): string {
  return group ? `${group}/${version}` : version
}

export function groupOf(apiVersion: string): string {
  const at = apiVersion.indexOf('/')
  return at < 0 ? '' : apiVersion.slice(0, at)
}

// As resources are spelt in roles and metrics: workspacetemplates.infrastructure.cluster.x-k8s.io.
export function resourceName({ plural, group }: Pick<Resource, 'plural' | 'group'>): string {
  return group ? `${plural}.${group}` : plural
}

// An object without what nobody here reads and which is often half of it.
export function slim<T extends KubeObject>(object: T): T {
  const { managedFields: _, ...metadata } = object.metadata
  return { ...object, metadata: withoutLastApplied(metadata) }
}

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'

function withoutLastApplied(metadata: ObjectMeta): ObjectMeta {
  if (metadata.annotations?.[lastApplied] === undefined) return metadata
  const { [lastApplied]: _, ...annotations } = metadata.annotations
  return { ...metadata, annotations }
}
