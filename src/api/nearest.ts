// What somebody may have meant who wrote a name that there is not.

// The one of `names` that is most like it; undefined: none is.
export function nearest(name: string, names: readonly string[]): string | undefined {
  const [best] = names.map((each) => [distance(name, each), each] as const).toSorted(([a], [b]) => a - b)
  return best && best[0] <= Math.ceil(name.length / 3) ? best[1] : undefined
}

// How many letters must be changed, added or taken away to make one of the other.
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1]
    for (let j = 0; j < b.length; j++)
      next.push(Math.min((next[j] ?? 0) + 1, (row[j + 1] ?? 0) + 1, (row[j] ?? 0) + Number(a[i] !== b[j])))
    row = next
  }
  return row.at(-1) ?? 0
}
