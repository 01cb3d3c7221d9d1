import { expect, test } from 'vitest'
import { but, cluster, controlPlane, noted, serving } from '../../../test/controlplanes.ts'
import { type CAPTControlPlaneTemplate, type CAPTControlPlane as ControlPlane } from '../../api/captcontrolplane.ts'
import type { Key } from '../../api/resource.ts'
import type { Read } from '../../runtime/cache.ts'
import { decide } from './decide.ts'
import { type MadeOf, madeOf, templateStatus } from './template.ts'

const template: CAPTControlPlaneTemplate = {
  apiVersion: 'controlplane.cluster.x-k8s.io/v1beta1',
  kind: 'CAPTControlPlaneTemplate',
  metadata: { name: 'eks', namespace: 'classes' },
  spec: {
    description: 'For everybody',
    templateVersion: '1.4.0',
    template: { spec: { workspaceTemplateRef: { name: 'eks' }, deletionProtection: false, retainOnDelete: false } },
  },
}
const read = {
  get: (_: unknown, { name, namespace }: Key) => (name === 'eks' && namespace === 'classes' ? template : undefined),
} as unknown as Read
const cloned = (name: string) => but(controlPlane, noted('cluster.x-k8s.io/cloned-from-name', name))
const ofClass = (namespace?: string) =>
  but(cluster, { spec: { topology: { classRef: { name: 'eks', ...(namespace !== undefined && { namespace }) } } } })
const all = { name: 'eks', description: 'For everybody', templateVersion: '1.4.0' }

test.each<[string, ControlPlane, typeof cluster, MadeOf | undefined]>([
  ['nothing of one that a user wrote', controlPlane, cluster, undefined],
  ['what its template says, beside the class', cloned('eks'), ofClass('classes'), all],
  ['only the name of one that is not there', cloned('eks'), ofClass(), { name: 'eks' }],
])('of a control plane is told %s', (_, object, owner, told) => {
  expect(madeOf(read, object, owner)).toEqual(told)
})

test.each<[string, MadeOf | undefined, MadeOf | undefined, object]>([
  ['told first', undefined, all, { template: all }],
  ['told already', all, all, { template: {} }],
  ['changed', all, { ...all, templateVersion: '1.5.0' }, { template: { templateVersion: '1.5.0' } }],
  ['told no more', all, { name: 'eks' }, { template: { description: null, templateVersion: null } }],
  ['of no template any more', all, undefined, { template: null }],
  ['of none', undefined, undefined, {}],
])('what is %s is written so', (_, before, now, status) => {
  expect(templateStatus(before, now)).toEqual(status)
})

test('it is seen in the status of the control plane', () => {
  expect(decide({ ...serving, template: all }).status).toMatchObject({ template: all })
})
