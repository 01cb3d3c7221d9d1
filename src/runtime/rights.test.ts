import { expect, test } from 'vitest'
import { Secret } from '../api/neighbours.ts'
import { WorkspaceTemplate } from '../api/workspacetemplate.ts'
import { applies, controller, deletes, gets, itself, mapped } from './controller.ts'
import { idle } from './plan.ts'
import { rightsOf, rulesOf } from './rights.ts'

test('a role has one rule a resource, with every verb once, whatever the order', () => {
  const made = controller({
    name: 'made-up',
    kind: WorkspaceTemplate,
    wokenBy: [itself(WorkspaceTemplate), mapped(Secret, () => [])],
    writes: [gets(Secret), deletes(Secret), applies(Secret), gets(Secret)],
    observe: () => undefined,
    decide: () => idle,
  })
  const rules = rulesOf(rightsOf([made]))
  expect(rules).toEqual([
    { apiGroups: [''], resources: ['secrets'], verbs: ['create', 'delete', 'get', 'list', 'patch', 'watch'] },
    { apiGroups: ['infrastructure.cluster.x-k8s.io'], resources: ['workspacetemplates'], verbs: ['list', 'watch'] },
    { apiGroups: ['infrastructure.cluster.x-k8s.io'], resources: ['workspacetemplates/status'], verbs: ['patch'] },
  ])
  expect(rulesOf(rightsOf([made]).toReversed())).toEqual(rules)
})
