// Lets equal strings of many objects be one string. JSON.parse shares the names of fields but makes every value anew, and
// of a cached object most are words that thousands of others hold too.

export type Pool = (value: unknown) => void

const slots = 8192 // a string that loses its slot to another is kept twice, no more
const longest = 64 // longer ones seldom repeat

// Changes the value in place: it must be fresh from the wire.
export function createPool(): Pool {
  const strings = Array.from<string | undefined>({ length: slots })

  function share(text: string): string {
    if (text.length > longest) return text
    const slot = hashOf(text) % slots
    const known = strings[slot]
    if (known === text) return known
    strings[slot] = text
    return text
  }

  return function walk(value) {
    if (typeof value !== 'object' || value === null) return
    for (const name of Object.keys(value)) {
      const inner: unknown = Reflect.get(value, name)
      if (typeof inner === 'string') Reflect.set(value, name, share(inner))
      else walk(inner)
    }
  }
}

// FNV-1a, its upper half folded into its lower.
export function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return (hash ^ (hash >>> 16)) >>> 0
}
