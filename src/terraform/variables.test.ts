// What render.test.ts does not see: who offers variables, and who asks for them.
import { expect, test } from 'vitest'
import { apply, template } from '../../test/applies.ts'
import { tellUnknown } from './variables.ts'

const owner = { apiVersion: 'x/v1', kind: 'CAPTCluster', name: 'demo', uid: 'x' }
const declared = [{ name: 'cidr', required: false, sensitive: false }]
const given = new Map([['region', { value: 'x', isSensitive: false, at: 'spec.variables.region' }]])

function complaints(ownerReferences: readonly object[], variables: typeof declared | undefined) {
  const told: string[] = []
  const of = { ...apply, metadata: { ...apply.metadata, ownerReferences } } as typeof apply
  const using = { ...template, spec: { ...template.spec, variables } } as typeof template
  tellUnknown(
    { apply: of, template: using, found: new Map(), given, used: new Set() },
    (reason) => void told.push(reason),
  )
  return told
}

test.each<[string, readonly object[], typeof declared | undefined, number]>([
  ['a user asks for one that the template has not', [], declared, 1],
  ['a controller offers it, to be taken or left', [{ ...owner, controller: true }], declared, 0],
  ['an owner that is not in charge offers nothing', [owner], declared, 1],
  ['a template that names none cannot be asked for a wrong one', [], undefined, 0],
])('%s', (_, owners, variables, count) => {
  expect(complaints(owners, variables)).toHaveLength(count)
})
