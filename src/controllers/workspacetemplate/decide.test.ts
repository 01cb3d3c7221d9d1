import { expect, test } from 'vitest'
import type { WorkspaceTemplate } from '../../api/workspacetemplate.ts'
import { decide, type Seen } from './decide.ts'

const inline = (module: string, variables?: WorkspaceTemplate['spec']['variables']): WorkspaceTemplate => ({
  apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1',
  kind: 'WorkspaceTemplate',
  metadata: { name: 'vpc', namespace: 'default', generation: 1 },
  spec: { template: { spec: { forProvider: { source: 'Inline', module } } }, ...(variables && { variables }) },
})
const sound = inline('variable "region" {}\noutput "id" { value = var.region }')
const predecessor = 'workspacetemplate.v2.infrastructure.cluster.x-k8s.io'
const torn = inline('variable "region" {')
const untyped = inline('variable "region" {}', [{ name: 'region', type: 'strin', required: false, sensitive: false }])
const changed = (template: WorkspaceTemplate, metadata: object): WorkspaceTemplate => ({
  ...template,
  metadata: { ...template.metadata, ...metadata },
})
const told = (template: WorkspaceTemplate, message: string): WorkspaceTemplate => ({
  ...template,
  status: {
    conditions: [{ type: 'Ready', status: 'False', reason: 'InvalidModule', message, lastTransitionTime: '' }],
  },
})
const messageOf = (template: WorkspaceTemplate) => decide({ template, users: [] }).conditions[0]?.message ?? ''

test.each<{ when: string; seen: Seen; says: string; does: string }>([
  {
    when: 'all is well',
    seen: { template: sound, users: [] },
    says: 'Ready=True(Valid)',
    does: '',
  },
  {
    when: 'the module cannot be read',
    seen: { template: torn, users: [] },
    says: 'Ready=False(InvalidModule)',
    does: 'tell Warning InvalidModule',
  },
  {
    when: 'that was said before',
    seen: { template: told(torn, messageOf(torn)), users: [] },
    says: 'Ready=False(InvalidModule)',
    does: '',
  },
  {
    when: 'a variable has no type that Terraform knows',
    seen: { template: untyped, users: [] },
    says: 'Ready=False(InvalidVariables)',
    does: 'tell Warning InvalidVariables',
  },
  {
    when: 'it is paused',
    seen: { template: changed(torn, { annotations: { 'cluster.x-k8s.io/paused': '' } }), users: [] },
    says: '',
    does: '',
  },
  {
    when: 'it is being deleted',
    seen: { template: changed(torn, { deletionTimestamp: '2026-11-16T00:00:00Z' }), users: [] },
    says: '',
    does: '',
  },
  {
    when: 'the predecessor holds it',
    seen: { template: changed(sound, { finalizers: [predecessor] }), users: [] },
    says: 'Ready=True(Valid)',
    does: 'removeFinalizer',
  },
  {
    when: 'the predecessor holds it, and it is being deleted',
    seen: {
      template: changed(sound, { finalizers: [predecessor], deletionTimestamp: '2026-11-16T00:00:00Z' }),
      users: [],
    },
    says: '',
    does: 'removeFinalizer',
  },
  {
    when: 'somebody else holds it, and it is being deleted',
    seen: { template: changed(sound, { finalizers: ['x/y'], deletionTimestamp: '2026-11-16T00:00:00Z' }), users: [] },
    says: '',
    does: '',
  },
])('when $when', ({ seen, says, does }) => {
  const { conditions, effects } = decide(seen)
  expect(conditions.map(({ type, status, reason }) => `${type}=${status}(${reason})`).join()).toBe(says)
  expect(effects.map((each) => (each.do === 'tell' ? `tell ${each.type} ${each.reason}` : each.do)).join()).toBe(does)
})

test('its users are counted, and ten of them named', () => {
  const users = Array.from({ length: 12 }, (_, index) => `apply-${String(index).padStart(2, '0')}`)
  const { status } = decide({ template: sound, users: users.toReversed() })
  expect(status).toMatchObject({ users: { count: 12, names: users.slice(0, 10) } })
})

test('what reaches Terraform changes the revision, what people read does not', () => {
  const revision = (template: WorkspaceTemplate) => decide({ template, users: [] }).status?.['revision']
  expect(revision(inline('# other'))).not.toBe(revision(sound))
  const described = {
    ...sound,
    spec: { ...sound.spec, template: { ...sound.spec.template, metadata: { version: '2' } } },
  }
  expect(revision(described)).toBe(revision(sound))
})
