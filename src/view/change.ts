// What is different between two pictures, one line for each object. Pure.
import { labelOf, type Node } from './node.ts'
import type { Picture } from './picture.ts'

export function changesBetween(before: Picture | undefined, after: Picture): readonly string[] {
  const old = before ? statesIn(before.tree) : new Map<string, string>()
  const now = statesIn(after.tree)
  const together = foldsIn(after.tree)
  const isTold = (label: string) => now.has(label) || together.some((kind) => label.startsWith(`${kind}/`))
  return [
    ...[...now].filter(([label, state]) => old.get(label) !== state).map(([label, state]) => `${label}: ${state}`),
    ...[...old.keys()].filter((label) => !isTold(label)).map((label) => `${label}: gone`),
  ]
}

// Kinds of which several are told of as one: none of them is gone for that.
function foldsIn({ kind, count, children }: Node): readonly string[] {
  return [...(count === undefined ? [] : [kind]), ...children.flatMap(foldsIn)]
}

// From the bottom up: what happens deep down is why something happens above.
function statesIn(node: Node): ReadonlyMap<string, string> {
  const below = node.children.flatMap((each) => [...statesIn(each)])
  return new Map([...below, [labelOf(node), tell(node)]])
}

function tell({ state, standing, message }: Node): string {
  const isWorthIt = message !== undefined && (standing === 'failed' || standing === 'asking')
  return isWorthIt ? `${state}: ${message.replace(/\s+/g, ' ').trim()}` : state
}
