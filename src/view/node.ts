// One object in the picture of a cluster, or several that are told of together. Pure.
import type { Says } from './says.ts'

export interface Node extends Says {
  readonly kind: string
  readonly name?: string // none: it is a group of objects
  readonly namespace?: string
  readonly count?: number // so many of the kind, all of them ready
  readonly until?: string // when the first of their tokens expires
  readonly failureClass?: string // of an apply: what kind of trouble Terraform has
  readonly children: readonly Node[]
}

export function labelOf({ kind, name, count }: Pick<Node, 'kind' | 'name' | 'count'>): string {
  if (count !== undefined) return `${count} ${count === 1 ? kind : pluralOf(kind)}`
  return name === undefined ? kind : `${kind}/${name}`
}

export function pluralOf(kind: string): string {
  return `${kind.replace(/y$/, 'ie')}s`
}
