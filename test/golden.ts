// A golden log: a story told in lines, compared with the one on file. It is documentation that a test keeps true.
//   * something happens
//       says Ready=True(Provisioned) …
// A new log is written by `make test` on a person's machine and reviewed like code; CI only compares.
import { expect } from 'vitest'
import { conditionsOf, tellCondition } from './bed/describe.ts'
import type { KubeObject } from './bed/kube.ts'

export interface Teller {
  happens(what: string): void
  // Which of the object's conditions to tell, in the order of the story rather than of the object.
  says(object: KubeObject, ...types: string[]): void
  notes(line: string): void
  // Compares the story so far with `<name>.golden.log` beside the story.
  end(name: string): Promise<void>
}

export function aTeller(): Teller {
  const lines: string[] = []
  return {
    happens: (what) => void lines.push(`* ${what}`),
    says(object, ...types) {
      const conditions = conditionsOf(object)
      const told = types.map((type) => {
        const condition = conditions.find((each) => each.type === type)
        return condition ? tellCondition(condition) : `${type} not told`
      })
      lines.push(`    ${object.kind} says ${told.join(' ')}`)
    },
    notes: (line) => void lines.push(`    ${line}`),
    end: async (name) => expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(`./${name}.golden.log`),
  }
}
