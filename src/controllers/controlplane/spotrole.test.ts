import { expect, test } from 'vitest'
import { anApply, but, controlPlane } from '../../../test/controlplanes.ts'
import type { CAPTControlPlane } from '../../api/captcontrolplane.ts'
import type { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'
import type { Account } from '../account.ts'
import { spotRoleApplyName, spotRoleOf } from './spotrole.ts'

type Apply = WorkspaceTemplateApply
const ensure = { controlPlaneConfig: { spotServiceLinkedRole: 'Ensure' } }
const wants = (spec: object = {}) => but(controlPlane, { spec: { ...ensure, ...spec } })
const acme: Account = { kind: 'ClusterProviderConfig', name: 'acme' }
const byDefault: Account = { kind: 'ClusterProviderConfig', name: 'default' }
const roleOf = (subject: CAPTControlPlane, spotRole: Apply | undefined, ofTemplate: Account | null = byDefault) =>
  spotRoleOf({ controlPlane: subject, spotRole, accountOfTemplate: ofTemplate ?? undefined })
const of = (ref: object | undefined, run: 'running' | 'failed' | 'held' | 'done', text?: string): Apply =>
  but(anApply('spot-role-default', undefined, run), {
    spec: { retainOnDelete: true, ...(ref && { providerConfigRef: ref }) },
    ...(text !== undefined && { status: { failure: { class: 'unknown', text } } }),
  })
const taken =
  'InvalidInput: Service role name AWSServiceRoleForEC2Spot has been taken in this account, please try a different suffix.'

test.each<{ when: string; spec?: object; of?: Account | null; apply?: Apply; says: string; asks: number }>([
  {
    when: 'it was not asked for',
    spec: { controlPlaneConfig: { spotServiceLinkedRole: 'Ignore' } },
    says: 'Ignored=True',
    asks: 0,
  },
  { when: 'nobody said anything of it', spec: { controlPlaneConfig: undefined }, says: 'Ignored=True', asks: 0 },
  { when: 'Terraform was not asked yet', says: 'Creating=False', asks: 1 },
  { when: 'Terraform is at work', apply: of(byDefault, 'running'), says: 'Creating=False', asks: 1 },
  { when: 'it is there', apply: of(byDefault, 'done'), says: 'Ensured=True', asks: 1 },
  { when: 'it was there before', apply: of(byDefault, 'failed', taken), says: 'Ensured=True', asks: 1 },
  { when: 'Terraform failed', apply: of(byDefault, 'failed', 'AccessDenied'), says: 'Failed=False', asks: 1 },
  { when: 'its plan is held', apply: of(byDefault, 'held'), says: 'Failed=False', asks: 1 },
  {
    when: 'it is of the account that the template says',
    of: acme,
    apply: of(acme, 'done'),
    says: 'Ensured=True',
    asks: 1,
  },
  {
    when: 'it is not of the account that the template says',
    of: acme,
    apply: of(byDefault, 'done'),
    says: 'Failed=False',
    asks: 0,
  },
  { when: 'the template that says the account is not there', of: null, says: 'Failed=False', asks: 0 },
  {
    when: 'the template leaves the account to a variable',
    of: { ...acme, name: '${team}' },
    says: 'Failed=False',
    asks: 0,
  },
  {
    when: 'it is of another account of the same name',
    spec: { providerConfigRef: { ...byDefault, kind: 'ProviderConfig' } },
    apply: of(undefined, 'done'),
    says: 'Failed=False',
    asks: 0,
  },
  {
    when: 'it was asked for without words that mean the same',
    spec: { providerConfigRef: byDefault },
    apply: of(undefined, 'done'),
    says: 'Ensured=True',
    asks: 1,
  },
  {
    when: 'another says the same in the same words',
    spec: { providerConfigRef: acme },
    apply: of(acme, 'done'),
    says: 'Ensured=True',
    asks: 1,
  },
])('when $when', ({ spec, of: ofTemplate, apply, says, asks }) => {
  const { said, effects } = roleOf(wants(spec), apply, ofTemplate)
  expect(`${said.reason}=${said.status}`).toBe(says)
  expect(effects).toHaveLength(asks)
  expect(said.status === 'True' || /WorkspaceTemplate|Terraform is asked/.test(said.message)).toBe(true)
})

test('it is made once for an account, belongs to nobody and is never destroyed with a cluster', () => {
  const { effects } = roleOf(wants(), undefined, acme)
  expect(effects[0]).toMatchObject({
    object: {
      metadata: { name: 'spot-role-acme', namespace: 'team' },
      spec: { templateRef: { name: 'spot-role-create' }, retainOnDelete: true, providerConfigRef: acme },
    },
  })
  const text = JSON.stringify(effects)
  expect(text).not.toContain('ownerReferences')
  expect(text).not.toContain('cluster-name')
  expect(spotRoleApplyName(byDefault)).toBe('spot-role-default')
  const long = { ...acme, name: 'a'.repeat(253) }
  expect(spotRoleApplyName(long)).toMatch(/^spot-role-a{32}-[0-9a-f]{20}$/)
})

test('managers that look after different clusters do not fight for it', () => {
  const filtered = (value: string) => ({ metadata: { labels: { 'cluster.x-k8s.io/watch-filter': value } } })
  const asks = (by: object, found: object) =>
    roleOf(but(wants(), by), but(of(byDefault, 'done'), found)).effects.map((each) =>
      each.do === 'apply' ? each.object.metadata.labels : undefined,
    )
  expect(asks(filtered('blue'), {})).toEqual([filtered('blue').metadata.labels])
  expect(asks(filtered('green'), filtered('blue'))).toEqual([filtered('blue').metadata.labels])
  expect(asks({}, filtered('blue'))).toEqual([filtered('blue').metadata.labels])
})
