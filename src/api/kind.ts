// What a kind is: its names, its schema, how it is shown. The CRD, the reference page and the types all come from here.
import type * as z from 'zod'
import type { Words } from './condition.ts'
import { type KubeObject, type ObjectMeta, type Resource, slim } from './resource.ts'
import type { Transition } from './schema.ts'

export const groups = {
  infrastructure: 'infrastructure.cluster.x-k8s.io',
  controlPlane: 'controlplane.cluster.x-k8s.io',
  bootstrap: 'bootstrap.cluster.x-k8s.io',
} as const

export interface Column {
  readonly name: string
  readonly type: 'string' | 'integer' | 'boolean' | 'date'
  readonly jsonPath: string
  readonly description: string
  readonly wide?: true // shown with -o wide only
}

export interface Scale {
  readonly replicas: string // where the wish is
  readonly statusReplicas: string // where the truth is
  readonly selector: string
}

export interface Kind<Spec extends z.ZodType = z.ZodType, Status extends z.ZodType = z.ZodType, W extends Words = Words>
  extends Resource<KubeObject & { readonly spec: z.output<Spec>; readonly status?: z.output<Status> }> {
  readonly group: (typeof groups)[keyof typeof groups]
  readonly shortNames?: readonly string[]
  readonly description: string
  readonly isContract?: true // Cluster API core reads it, and finds it by the contract label on its CRD
  readonly isMoved?: true // clusterctl moves it though nothing it moves owns it
  readonly spec: () => Spec // built when first asked for: all together take about 7 MiB, and a controller needs none
  readonly transitions?: readonly Transition[] // of the whole object: what its status forbids its spec
  readonly status: () => Status
  readonly words: W // its conditions and their reasons
  readonly columns: readonly Column[]
  readonly scale?: Scale
  readonly readBy: string // the controller that reads its fields
}

export const version = 'v1beta1'

// An object of a kind, as the API server stores it.
export interface ObjectOf<K extends Kind> {
  readonly apiVersion: string
  readonly kind: K['kind']
  readonly metadata: ObjectMeta
  readonly spec: z.output<ReturnType<K['spec']>>
  readonly status?: z.output<ReturnType<K['status']>>
}

// Keeps the types of its schemas and words, while holding the rest to the form.
export function kind<Spec extends z.ZodType, Status extends z.ZodType, const W extends Words>(
  description: Omit<Kind<Spec, Status, W>, 'version' | 'keep'>,
): Kind<Spec, Status, W> {
  return { ...description, spec: once(description.spec), status: once(description.status), version, keep: slim }
}

function once<T>(build: () => T): () => T {
  let built: { readonly value: T } | undefined
  return () => (built ??= { value: build() }).value
}

export const age: Column = {
  name: 'Age',
  type: 'date',
  jsonPath: '.metadata.creationTimestamp',
  description: 'How long it has been there.',
}

export const ofCluster: Column = {
  name: 'Cluster',
  type: 'string',
  jsonPath: ".metadata.labels['cluster\\.x-k8s\\.io/cluster-name']",
  description: 'The Cluster it belongs to.',
}

// A column that shows a condition's status, and one for those who ask why.
export function conditionColumns(type: string): readonly Column[] {
  const path = (field: string) => `.status.conditions[?(@.type=='${type}')].${field}`
  return [
    { name: type, type: 'string', jsonPath: path('status'), description: `Whether it is ${type.toLowerCase()}.` },
    {
      name: 'Reason',
      type: 'string',
      jsonPath: path('reason'),
      description: `Why it is ${type.toLowerCase()} or not.`,
    },
    { name: 'Message', type: 'string', jsonPath: path('message'), description: 'The same for people.', wide: true },
  ]
}
