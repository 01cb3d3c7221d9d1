import { describe, expect, test } from 'vitest'
import { ownerOfSecrets as owner } from '../../test/controlplanes.ts'
import { base64 } from '../../test/pki.ts'
import { Secret } from '../api/neighbours.ts'
import { seal } from '../api/sealed.ts'
import { copyName, copyOf, isCurrent, isIntact, type Role, roles, timesOf } from './copies.ts'

const whose = { namespace: 'team', cluster: 'demo', owner, revision: 'r1' }
const material = {
  kubeconfig: seal('a kubeconfig'),
  userKubeconfig: 'one for people',
  ca: 'a certificate',
  expires: new Date('2026-11-16T12:14:00.9Z'),
  renews: new Date('2026-11-16T12:08:00Z'),
}
const expires = 'capt.appthrust.io/token-expires'
const renews = 'capt.appthrust.io/token-renews'
const times = { [expires]: '2026-11-16T12:14:00Z', [renews]: '2026-11-16T12:08:00Z' }

describe('each copy is as Cluster API and its users look for it', () => {
  test.each<[Role, string, Readonly<Record<string, string>>, object]>([
    ['kubeconfig', 'demo-kubeconfig', { value: 'a kubeconfig' }, times],
    ['controlPlaneKubeconfig', 'demo-control-plane-kubeconfig', { value: 'a kubeconfig' }, times],
    ['userKubeconfig', 'demo-user-kubeconfig', { value: 'one for people' }, {}],
    ['ca', 'demo-ca', { 'tls.crt': 'a certificate', 'ca.crt': 'a certificate' }, {}],
  ])('%s', (role, name, data, notes) => {
    expect(copyOf(role, whose, material)).toEqual({
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'cluster.x-k8s.io/secret',
      metadata: {
        name,
        namespace: 'team',
        labels: { 'cluster.x-k8s.io/cluster-name': 'demo' },
        annotations: { 'capt.appthrust.io/revision': 'r1', ...notes },
        ownerReferences: [owner],
      },
      data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, base64(value)])),
    })
  })

  test('what does not end says so', () => {
    const copy = copyOf('kubeconfig', whose, { ...material, expires: undefined, renews: undefined })
    expect(copy.metadata.annotations).toEqual({
      'capt.appthrust.io/revision': 'r1',
      [expires]: 'never',
      [renews]: 'never',
    })
    expect(timesOf(copy)).toEqual({ expires: undefined, renews: undefined })
  })

  test('its times are read as they were written, to the second', () => {
    expect(timesOf(copyOf('kubeconfig', whose, material))).toEqual({
      expires: new Date('2026-11-16T12:14:00Z'),
      renews: material.renews,
    })
    const spoilt = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x', annotations: { [expires]: 'soon' } } }
    expect(timesOf(spoilt)).toEqual({ expires: undefined, renews: undefined })
  })
})

const owned = (keys: readonly string[]) => Object.fromEntries(keys.map((each) => [`f:${each}`, {}]))
const notes = ['capt.appthrust.io/revision', expires, renews]
const ours = (keys: readonly string[], how: object = {}, noted: readonly string[] = notes) => ({
  manager: 'capt-controlplane',
  operation: 'Apply',
  fieldsV1: { 'f:data': owned(keys), 'f:metadata': { 'f:annotations': owned(noted), 'f:labels': {} }, 'f:type': {} },
  ...how,
})
const keys: Readonly<Record<Role, readonly string[]>> = {
  kubeconfig: ['value'],
  controlPlaneKubeconfig: ['value'],
  userKubeconfig: ['value'],
  ca: ['ca.crt', 'tls.crt'],
}
// As the API server has it after we wrote it, and as the cache keeps it.
const written = (role: Role, metadata: object = {}): Secret => {
  const copy = copyOf(role, whose, material)
  const all = { ...copy.metadata, managedFields: [ours(keys[role])], ...metadata }
  return Secret.keep({ ...copy, metadata: all })
}

describe('whether a copy is still as we wrote it can be told without reading it', () => {
  test.each(roles)('%s is, once it was written', (role) => {
    expect(isIntact(role, written(role), whose)).toBe(true)
    expect(isCurrent(written(role), 'r1')).toBe(true)
    expect(isCurrent(written(role), 'r2')).toBe(false)
  })

  test.each<[string, object]>([
    ['its owner is missing', { ownerReferences: [] }],
    ['it has another owner', { ownerReferences: [{ ...owner, uid: 'uid-of-another' }] }],
    ['it has us as an owner among others, not in charge', { ownerReferences: [{ ...owner, controller: false }] }],
    ['its label is missing', { labels: {} }],
    ['its label was changed', { labels: { 'cluster.x-k8s.io/cluster-name': 'other' } }],
    ['nobody knows who wrote it', { managedFields: [] }],
    ['another wrote the value', { managedFields: [ours([]), { ...ours(['value']), manager: 'kubectl' }] }],
    ['another wrote all of it', { managedFields: [{ ...ours(['value']), manager: 'kubectl' }] }],
    ['it was written in our name, but not by an apply', { managedFields: [ours(['value'], { operation: 'Update' })] }],
    ['somebody took a time away', { managedFields: [ours(['value'], {}, [expires])] }],
    [
      'somebody wrote another time',
      { managedFields: [ours(['value'], {}, [expires]), { ...ours([], {}, [renews]), manager: 'kubectl' }] },
    ],
    ['it is being deleted', { deletionTimestamp: '2026-11-16T12:00:00Z' }],
  ])('not when %s', (_, metadata) => {
    expect(isIntact('kubeconfig', written('kubeconfig', metadata), whose)).toBe(false)
  })

  test('of one without a token no times are missed', () => {
    expect(isIntact('ca', written('ca', { managedFields: [ours(keys.ca, {}, [])] }), whose)).toBe(true)
  })

  test('not when one key of two is no longer ours', () => {
    expect(isIntact('ca', written('ca', { managedFields: [ours(['tls.crt'])] }), whose)).toBe(false)
  })

  test('even though others added to it', () => {
    const more = {
      labels: { 'cluster.x-k8s.io/cluster-name': 'demo', theirs: 'too' },
      ownerReferences: [{ ...owner, kind: 'Other', uid: 'x', controller: false }, owner],
      managedFields: [ours(['value']), { ...ours(['more']), manager: 'kubectl' }],
    }
    expect(isIntact('kubeconfig', written('kubeconfig', more), whose)).toBe(true)
  })
})

test('names tell the copies of different clusters apart', () => {
  const all = ['a', 'a-control-plane', 'b'].flatMap((cluster) => roles.map((role) => copyName(role, cluster)))
  expect(all.length - new Set(all).size).toBe(1) // the seed's name for one is core's for another: see the owner
})
