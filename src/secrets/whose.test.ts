import { expect, test } from 'vitest'
import { ownerOfSecrets as owner } from '../../test/controlplanes.ts'
import { clusterSecretType } from '../api/contract.ts'
import { whyForeign } from './whose.ts'

const label = (cluster: string) => ({ labels: { 'cluster.x-k8s.io/cluster-name': cluster } })
const managed = (manager: string) => ({ managedFields: [{ manager, operation: 'Apply' }] })
const why = (type: string | undefined, metadata: object) =>
  whyForeign(
    {
      apiVersion: 'v1',
      kind: 'Secret',
      ...(type !== undefined && { type }),
      metadata: { name: 'demo-ca', ...metadata },
    },
    { cluster: 'demo', owner },
  )
const unclaimed = 'has type Opaque, and nothing on it says that it is of Cluster demo'

test.each<[string, object, string | undefined, string | undefined]>([
  // when                                        it has                                        of our type     of another
  ['nothing is on it', {}, undefined, unclaimed],
  ['the control plane controls it', { ownerReferences: [owner] }, undefined, undefined],
  ['it was of an older life', { ownerReferences: [{ ...owner, uid: 'old' }] }, undefined, undefined],
  ['the control plane owns it', { ownerReferences: [{ ...owner, controller: false }] }, undefined, undefined],
  [
    'another control plane controls it',
    { ownerReferences: [{ ...owner, name: 'x' }], ...label('demo') },
    'belongs to CAPTControlPlane x',
    'belongs to CAPTControlPlane x',
  ],
  [
    'something of that kind in another group does',
    { ownerReferences: [{ ...owner, apiVersion: 'x/v1' }] },
    'belongs to CAPTControlPlane demo-abc',
    'belongs to CAPTControlPlane demo-abc',
  ],
  [
    'somebody else owns it, without being in charge',
    { ownerReferences: [{ ...owner, name: 'x', controller: false }] },
    undefined,
    unclaimed,
  ],
  ['it has the label', label('demo'), undefined, undefined],
  ['it has the label of another', label('x'), 'is labelled as one of Cluster x', 'is labelled as one of Cluster x'],
  ['we wrote it, whatever its label', { ...label('x'), ...managed('capt-controlplane') }, undefined, undefined],
  ['somebody else wrote it', managed('kubectl'), undefined, unclaimed],
])('whose a Secret is when %s', (_, metadata, ofOurType, ofAnother) => {
  expect([why(clusterSecretType, metadata), why('Opaque', metadata)]).toEqual([ofOurType, ofAnother])
  expect(why(undefined, metadata)).toBe(ofOurType) // as the cache knows it
})
