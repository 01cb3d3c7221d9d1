import { describe, expect, test } from 'vitest'
import { aVpc, but, network, noted } from '../../test/controlplanes.ts'
import { WorkspaceTemplate } from '../api/workspacetemplate.ts'
import type { WorkspaceTemplateApply } from '../api/workspacetemplateapply.ts'
import type { Read } from '../runtime/cache.ts'
import { type Account, accountOfTemplate, settledAccount } from './account.ts'

type Apply = WorkspaceTemplateApply

const acme: Account = { kind: 'ClusterProviderConfig', name: 'acme' }
const other: Account = { kind: 'ClusterProviderConfig', name: 'other' }
const usual: Account = { kind: 'ClusterProviderConfig', name: 'default' }

test.each<[string, object, object, Account | undefined]>([
  ['of its namespace', { name: 'eks' }, { kind: 'ProviderConfig', name: 'acme' }, { ...acme, kind: 'ProviderConfig' }],
  ['for all, if nothing is said', { name: 'eks' }, { name: 'acme' }, acme],
  ['the usual one, if none is named', { name: 'eks' }, {}, usual],
  ['of a template elsewhere', { name: 'eks', namespace: 'shared' }, { name: 'other' }, undefined],
])('a template names a ProviderConfig %s', (_, ref, named, account) => {
  const providerConfigRef = 'name' in named ? named : undefined
  const read = {
    get: (resource: unknown, key: { namespace?: string }) =>
      resource === WorkspaceTemplate && key.namespace === 'team'
        ? { spec: { template: { spec: { providerConfigRef } } } }
        : undefined,
  } as unknown as Read
  expect(accountOfTemplate(read, network, ref as { name: string })).toEqual(account)
})

describe('the account that is asked for', () => {
  const wants = (ref: Account | undefined) => but(network, ref ? { spec: { providerConfigRef: ref } } : {})
  const uses = (ref: Account | undefined, apply = aVpc('done')): Apply =>
    but(apply, ref ? { spec: { providerConfigRef: ref } } : {})
  const failed = (kind: string, text = 'x') => but(aVpc('failed'), { status: { failure: { class: kind, text } } })
  const meant = noted('capt.appthrust.io/allow-provider-config-change')

  test.each<{
    when: string
    wants: Account | undefined
    apply?: Apply
    template?: Account
    asks: Account | undefined
    isRefused?: boolean
  }>([
    { when: 'nothing was asked for yet', wants: acme, asks: acme },
    { when: 'it is as it was', wants: acme, apply: uses(acme), asks: acme },
    { when: 'nobody ever named one', wants: undefined, apply: uses(undefined), asks: undefined },
    { when: 'another is wanted', wants: other, apply: uses(acme), asks: acme, isRefused: true },
    { when: 'it is wanted no more', wants: undefined, apply: uses(acme), asks: acme, isRefused: true },
    { when: 'one is named for the first time', wants: acme, apply: uses(undefined), asks: undefined, isRefused: true },
    { when: 'the usual one is named for the first time', wants: usual, apply: uses(undefined), asks: usual },
    { when: 'the one of the template is named', wants: acme, apply: uses(undefined), template: acme, asks: acme },
    {
      when: 'it is left to a template that says the same',
      wants: undefined,
      apply: uses(acme),
      template: acme,
      asks: undefined,
    },
    { when: 'Terraform was not run yet', wants: other, apply: uses(acme, aVpc('new')), asks: other },
    { when: 'a first run is under way', wants: other, apply: uses(acme, aVpc('running')), asks: acme, isRefused: true },
    { when: 'the first was not let in', wants: other, apply: uses(acme, failed('credentials')), asks: other },
    {
      when: 'the first was not there',
      wants: other,
      apply: uses(acme, failed('dependency', 'cannot get ProviderConfig')),
      asks: other,
    },
    { when: 'a first run has failed', wants: other, apply: uses(acme, failed('quota')), asks: acme, isRefused: true },
    {
      when: 'it is let in no more',
      wants: other,
      apply: uses(acme, but(failed('credentials'), { status: { applied: true } })),
      asks: acme,
      isRefused: true,
    },
  ])('when $when', ({ wants: wanted, apply, template, asks, isRefused = false }) => {
    const { ref, refusal } = settledAccount(wants(wanted), apply, template)
    expect(ref).toEqual(asks)
    expect(refusal !== undefined).toBe(isRefused)
    expect(refusal ?? 'spec.providerConfigRef names').toContain('spec.providerConfigRef names')
  })

  test('another, when that is meant', () => {
    expect(settledAccount(but(wants(other), meant), uses(acme), undefined)).toEqual({ ref: other })
  })
})
