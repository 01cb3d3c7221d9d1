import { expect, test } from 'vitest'
import { anApply, but, controlPlane } from '../../../test/controlplanes.ts'
import type { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'
import { spotRoleApplyName, spotRoleOf } from './spotrole.ts'

type Apply = WorkspaceTemplateApply
const ensure = { controlPlaneConfig: { spotServiceLinkedRole: 'Ensure' } }
const wants = (spec: object = {}) => but(controlPlane, { spec: { ...ensure, ...spec } })
const acme = { kind: 'ClusterProviderConfig', name: 'acme' }
const byDefault = { kind: 'ClusterProviderConfig', name: 'default' }
const of = (ref: object | undefined, run: 'running' | 'failed' | 'held' | 'done', text?: string): Apply =>
  but(anApply('spot-role-default', undefined, run), {
    spec: { retainOnDelete: true, ...(ref && { providerConfigRef: ref }) },
    ...(text !== undefined && { status: { failure: { class: 'unknown', text } } }),
  })
const taken =
  'InvalidInput: Service role name AWSServiceRoleForEC2Spot has been taken in this account, please try a different suffix.'

test.each<{ when: string; spec?: object; apply?: Apply; says: string; asks: number }>([
  {
    when: 'it was not asked for',
    spec: { controlPlaneConfig: { spotServiceLinkedRole: 'Ignore' } },
    says: 'Ignored=True',
    asks: 0,
  },
  { when: 'nobody said anything of it', spec: { controlPlaneConfig: undefined }, says: 'Ignored=True', asks: 0 },
  { when: 'Terraform was not asked yet', says: 'Creating=False', asks: 1 },
  { when: 'Terraform is at work', apply: of(undefined, 'running'), says: 'Creating=False', asks: 1 },
  { when: 'it is there', apply: of(undefined, 'done'), says: 'Ensured=True', asks: 1 },
  { when: 'it was there before', apply: of(undefined, 'failed', taken), says: 'Ensured=True', asks: 1 },
  { when: 'Terraform failed', apply: of(undefined, 'failed', 'AccessDenied'), says: 'Failed=False', asks: 1 },
  { when: 'its plan is held', apply: of(undefined, 'held'), says: 'Failed=False', asks: 1 },
  {
    when: 'it is of another account of the same name',
    spec: { providerConfigRef: { ...byDefault, kind: 'ProviderConfig' } },
    apply: of(undefined, 'done'),
    says: 'Failed=False',
    asks: 0,
  },
  {
    when: 'another says the same in other words',
    spec: { providerConfigRef: byDefault },
    apply: of(undefined, 'done'),
    says: 'Ensured=True',
    asks: 0,
  },
  {
    when: 'another says in words what goes without saying here',
    apply: of(byDefault, 'done'),
    says: 'Ensured=True',
    asks: 0,
  },
  {
    when: 'another says the same in the same words',
    spec: { providerConfigRef: acme },
    apply: of(acme, 'done'),
    says: 'Ensured=True',
    asks: 1,
  },
])('when $when', ({ spec, apply, says, asks }) => {
  const { said, effects } = spotRoleOf(wants(spec), apply)
  expect(`${said.reason}=${said.status}`).toBe(says)
  expect(effects).toHaveLength(asks)
  expect(said.status === 'True' || /WorkspaceTemplateApply|Terraform is asked/.test(said.message)).toBe(true)
})

test('it is made once for an account, belongs to nobody and is never destroyed with a cluster', () => {
  const { effects } = spotRoleOf(wants({ providerConfigRef: acme }), undefined)
  expect(effects[0]).toMatchObject({
    object: {
      metadata: { name: 'spot-role-acme', namespace: 'team' },
      spec: { templateRef: { name: 'spot-role-create' }, retainOnDelete: true, providerConfigRef: acme },
    },
  })
  const text = JSON.stringify(effects)
  expect(text).not.toContain('ownerReferences')
  expect(text).not.toContain('cluster-name')
  expect(spotRoleApplyName(wants())).toBe('spot-role-default')
  const long = { ...acme, name: 'a'.repeat(253) }
  expect(spotRoleApplyName(wants({ providerConfigRef: long }))).toMatch(/^spot-role-a{32}-[0-9a-f]{20}$/)
})

test('managers that look after different clusters do not fight for it', () => {
  const filtered = (value: string) => ({ metadata: { labels: { 'cluster.x-k8s.io/watch-filter': value } } })
  const asks = (by: object, found: object) =>
    spotRoleOf(but(wants(), by), but(of(undefined, 'done'), found)).effects.map((each) =>
      each.do === 'apply' ? each.object.metadata.labels : undefined,
    )
  expect(asks(filtered('blue'), {})).toEqual([filtered('blue').metadata.labels])
  expect(asks(filtered('green'), filtered('blue'))).toEqual([filtered('blue').metadata.labels])
  expect(asks({}, filtered('blue'))).toEqual([filtered('blue').metadata.labels])
})
