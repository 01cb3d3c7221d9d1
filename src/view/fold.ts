// Several nodes taken together: how the worst of them is, and a number in place of many that are ready. Pure.
import type { Node } from './node.ts'
import { isWorse, type Standing } from './words.ts'

// Many that are ready are a number.
export function folded(nodes: readonly Node[], least = 4): readonly Node[] {
  const kinds = [...new Set(nodes.map(({ kind }) => kind))]
  return kinds.flatMap((kind) => {
    const all = nodes.filter((each) => each.kind === kind)
    if (all.length < least || worstOf(all) !== 'ready') return all
    const until = all.flatMap((each) => each.until ?? []).toSorted()[0]
    const fold: Node = { kind, count: all.length, standing: 'ready', state: 'Ready', children: [] }
    return [{ ...fold, ...(until !== undefined && { until }) }]
  })
}

export function group(kind: string, children: readonly Node[]): Node {
  const standing = worstOf(children)
  return { kind, standing, state: standing === 'ready' ? 'Ready' : standing, children }
}

// However deep it is.
export function worstOf(nodes: readonly Node[]): Standing {
  return nodes
    .flatMap((each) => [each.standing, worstOf(each.children)])
    .reduce((worst, each) => (isWorse(each, worst) ? each : worst), 'ready')
}
