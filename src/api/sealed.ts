// A secret value, sealed: whatever prints, logs or serialises it sees ***. Only `open` gives the value away.
import { inspect } from 'node:util'

const mask = '***'

export interface Sealed {
  open(): string
  toString(): string
  toJSON(): string
}

export function seal(value: string): Sealed {
  return {
    open: () => value,
    toString: () => mask,
    toJSON: () => mask,
    // biome-ignore lint: a symbol Node looks for
    [inspect.custom]: () => mask,
  } as Sealed
}
