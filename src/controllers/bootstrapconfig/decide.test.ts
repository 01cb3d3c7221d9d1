import { expect, test } from 'vitest'
import { cluster } from '../../../test/controlplanes.ts'
import type { CAPTBootstrapConfig } from '../../api/captbootstrapconfig.ts'
import type { Secret } from '../../api/neighbours.ts'
import type { Plan } from '../../runtime/plan.ts'
import { decide, type Seen } from './decide.ts'

const config: CAPTBootstrapConfig = {
  apiVersion: 'bootstrap.cluster.x-k8s.io/v1beta1',
  kind: 'CAPTBootstrapConfig',
  metadata: {
    name: 'demo-md-x7k2p',
    namespace: 'team',
    uid: 'uid-of-config',
    labels: { 'cluster.x-k8s.io/cluster-name': 'demo' },
  },
  spec: {},
}
const owner = {
  apiVersion: 'bootstrap.cluster.x-k8s.io/v1beta1',
  kind: 'CAPTBootstrapConfig',
  name: 'demo-md-x7k2p',
  uid: 'uid-of-config',
  controller: true,
}
const secret = (ownerReferences: NonNullable<Secret['metadata']['ownerReferences']> = [owner]): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: {
    name: 'demo-md-x7k2p-bootstrap',
    namespace: 'team',
    labels: { 'cluster.x-k8s.io/cluster-name': 'demo' },
    ownerReferences,
  },
})
const made: Seen = { config, cluster, secret: undefined }
const done: Seen = { ...made, secret: secret() }
const but = (metadata: object): CAPTBootstrapConfig => ({ ...config, metadata: { ...config.metadata, ...metadata } })
const told = ({ conditions }: Plan) => conditions.map(({ type, reason }) => `${type}=${reason}`).join(' ')
const live = 'Paused=NotPaused Deleting=NotDeleting'

test.each<[string, Seen, string, number]>([
  ['it was just made', made, `Ready=Ready ${live}`, 1],
  ['its Secret is there', done, `Ready=Ready ${live}`, 0],
  ['its Secret was stripped of its owner', { ...done, secret: secret([]) }, `Ready=Ready ${live}`, 1],
  [
    'another has a Secret of that name',
    { ...done, secret: secret([{ ...owner, uid: 'x' }]) },
    `Ready=NameTaken ${live}`,
    0,
  ],
  ['nobody has asked for it', { ...made, cluster: 'none' }, 'Ready=WaitingForCluster', 0],
  ['its Cluster is not there', { ...made, cluster: 'gone' }, 'Ready=WaitingForCluster', 0],
  [
    'its Cluster is paused',
    { ...made, cluster: { ...cluster, spec: { ...cluster.spec, paused: true } } },
    'Paused=Paused',
    0,
  ],
  ['it goes', { ...made, config: but({ deletionTimestamp: '2026-11-16T11:00:00Z' }) }, '', 0],
])('when %s', (_, seen, says, writes) => {
  const plan = decide(seen)
  expect(told(plan)).toBe(says)
  expect(plan.effects).toHaveLength(writes)
  const isReady = says.startsWith('Ready=Ready')
  expect(plan.status).toEqual(
    isReady ? { initialization: { dataSecretCreated: true }, dataSecretName: 'demo-md-x7k2p-bootstrap' } : undefined,
  )
})

test('its Secret is empty, as Cluster API wants it, and goes with it', () => {
  expect(decide(made).effects).toMatchObject([
    {
      object: {
        metadata: { labels: { 'cluster.x-k8s.io/cluster-name': 'demo' }, ownerReferences: [owner] },
        type: 'cluster.x-k8s.io/secret',
        data: { value: '' },
      },
    },
  ])
})
