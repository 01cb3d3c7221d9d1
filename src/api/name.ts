// Names of objects that are made of other names, and how they stay short enough. Pure.
import { hashOf } from './canonical.ts'

export const longestName = 63 // of an object of ours: what fits into the labels and Terraform workspaces made from a name

const hashLength = 20

// An apply that is called after the object it is for. One that fits is called just so.
export function applyNamed(name: string): string {
  return name.length <= longestName ? name : cutName(name, longestName)
}

// Of just that length, and ended in a hash of all of it.
export function cutName(name: string, length: number): string {
  const kept = name.slice(0, length - hashLength - 1).replace(/\.$/, '-') // behind a dot there must be a letter or digit
  return `${kept}-${hashOf(name).slice(0, hashLength)}`
}
