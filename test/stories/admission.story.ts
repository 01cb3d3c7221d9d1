// What happens to objects of ours at the door of the API server: policies, scaling, two owners of one object, and the
// objects of the predecessor.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { CAPTCluster } from '../../src/api/captcluster.ts'
import { CAPTControlPlane } from '../../src/api/captcontrolplane.ts'
import { CAPTMachineTemplate } from '../../src/api/captmachine.ts'
import { CAPTMachineDeployment } from '../../src/api/captmachinedeployment.ts'
import { CAPTMachineSet } from '../../src/api/captmachineset.ts'
import type { Kind } from '../../src/api/kind.ts'
import { WorkspaceTemplate } from '../../src/api/workspacetemplate.ts'
import { WorkspaceTemplateApply } from '../../src/api/workspacetemplateapply.ts'
import type { KubeObject } from '../bed/kube.ts'
import { theBed } from '../bed/story.ts'
import { aCluster } from '../given.ts'
import { aSpecimen, changed, specimenSpec } from '../specimens.ts'

const bed = theBed()
const { kube } = bed
const annotated = (object: KubeObject, annotations: Record<string, string>): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, annotations },
})
const moved = { 'clusterctl.cluster.x-k8s.io/delete-for-move': '' }

test.each<[Kind]>([[CAPTCluster], [CAPTControlPlane], [WorkspaceTemplateApply]])(
  'a protected $kind is deleted only when its protection is lifted, or when it was moved',
  async (kind) => {
    const namespace = await bed.namespace('protected')
    const object = aSpecimen(kind, namespace, changed(kind, 'deletionProtection', true))
    await kube.apply(object)
    await expect(kube.remove(object)).rejects.toThrow(
      `${kind.kind} specimen has deletionProtection: set spec.deletionProtection to false first`,
    )
    await kube.patch(object, { spec: { deletionProtection: false } })
    await kube.remove(object)
    await kube.seeGone(object)

    const movedAway = annotated(object, moved)
    await kube.apply(movedAway)
    await kube.remove(movedAway)
    await kube.seeGone(movedAway)
  },
)

test.each<[Kind]>([[CAPTCluster], [CAPTControlPlane]])(
  'a Cluster that owns a protected $kind is not deleted',
  async (kind) => {
    const namespace = await bed.namespace('owner')
    const cluster = aCluster({ namespace })
    await kube.apply(cluster)
    const uid = (await kube.read(cluster))?.metadata.uid
    const plain = aSpecimen(kind, namespace, changed(kind, 'deletionProtection', true))
    const ownerReferences = [
      { apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Cluster', name: 'demo', uid: String(uid) },
    ]
    await kube.apply({ ...plain, metadata: { ...plain.metadata, ownerReferences } })

    expect(await kube.seeKept(cluster)).toContain(
      `Cluster demo owns ${kind.kind} specimen, which has deletionProtection: set spec.deletionProtection of it to false first`,
    )
    const other = { ...cluster, metadata: { name: 'other', namespace } }
    await kube.apply(other)
    await kube.remove(other)

    await kube.patch(plain, { spec: { deletionProtection: false } })
    await kube.removeWhenFree(cluster)
  },
)

test.each<[Kind]>([[CAPTCluster], [CAPTControlPlane]])(
  'an apply that belongs to a protected $kind is not deleted, and one beside it is',
  async (kind) => {
    const namespace = await bed.namespace('hands')
    const owner = aSpecimen(kind, namespace, changed(kind, 'deletionProtection', true))
    await kube.apply(owner)
    const { uid = '' } = (await kube.read(owner))?.metadata ?? {}
    const anApply = (name: string, ...ownerReferences: NonNullable<KubeObject['metadata']['ownerReferences']>) => {
      const apply = aSpecimen(WorkspaceTemplateApply, namespace, { templateRef: { name: 'specimen' } }, name)
      return { ...apply, metadata: { ...apply.metadata, ownerReferences } }
    }
    const { apiVersion } = owner
    const hands = anApply('hands', { apiVersion, kind: kind.kind, name: 'specimen', uid, controller: true })
    const beside = anApply('beside')
    await kube.apply(hands, beside)
    expect(await kube.seeKept(hands)).toContain(
      `WorkspaceTemplateApply hands belongs to ${kind.kind} specimen, which has deletionProtection: set spec.deletionProtection of that to false first`,
    )
    await kube.remove(beside)
    await kube.patch(owner, { spec: { deletionProtection: false } })
    await kube.removeWhenFree(hands)
    await kube.seeGone(hands)
  },
)

test('a WorkspaceTemplate in use is not deleted; one that nobody uses is', async () => {
  const namespace = await bed.namespace('in-use')
  const template = aSpecimen(WorkspaceTemplate, namespace)
  const apply = aSpecimen(WorkspaceTemplateApply, namespace, { templateRef: { name: 'specimen' } }, 'network')
  await kube.apply(template, apply)
  expect(await kube.seeKept(template)).toContain(
    'WorkspaceTemplate specimen is used by WorkspaceTemplateApply network: delete that first, or let it use another template',
  )
  await kube.remove(apply)
  await kube.seeGone(apply)
  await kube.removeWhenFree(template)
  await kube.seeGone(template)
})

test("a machine template is never changed, but topology's dry run may ask what would become of it", async () => {
  const namespace = await bed.namespace('immutable')
  const template = aSpecimen(CAPTMachineTemplate, namespace)
  const other = aSpecimen(
    CAPTMachineTemplate,
    namespace,
    changed(CAPTMachineTemplate, 'template.spec.instanceType', 'm7g.xlarge'),
  )
  await kube.apply(template)
  await expect(kube.apply(other)).rejects.toThrow(
    'CAPTMachineTemplate specimen cannot be changed, because machines were made of it: make a new one under another name and refer to that',
  )
  await kube.apply(annotated(template, { note: 'metadata may change' }))
  const dryRun = annotated(other, { 'topology.cluster.x-k8s.io/dry-run': '' })
  const tried = await kube.kubectl(
    [
      'apply',
      '--server-side',
      '--field-manager=bed',
      '--dry-run=server',
      '-o',
      'jsonpath={.spec.template.spec.instanceType}',
      '-f',
      '-',
    ],
    JSON.stringify(dryRun),
  )
  expect(tried).toBe('m7g.xlarge')
  await expect(kube.apply(dryRun)).rejects.toThrow('cannot be changed') // the annotation alone opens nothing
})

test.each<[Kind]>([[CAPTMachineSet], [CAPTMachineDeployment]])('kubectl scales a $kind', async (kind) => {
  const namespace = await bed.namespace('scale')
  const object = aSpecimen(kind, namespace)
  await kube.apply(object)
  await kube.patch(object, { status: { replicas: 1, selector: 'app=demo' } }, 'status')
  await kube.kubectl(['scale', `${kind.plural}.${kind.group}/specimen`, '--namespace', namespace, '--replicas=5'])
  expect(await kube.read(object)).toMatchObject({ spec: { replicas: 5 } })
})

test('defaults are the same every time, and a second owner with another field starts no fight', async () => {
  const namespace = await bed.namespace('owners')
  const specimen = aSpecimen(
    CAPTControlPlane,
    namespace,
    changed(CAPTControlPlane, 'controlPlaneConfig', { addons: [{ name: 'vpc-cni' }] }),
  )
  const applyAs = async (manager: string, object: KubeObject, ...flags: string[]) =>
    JSON.parse(
      await kube.kubectl(
        ['apply', '--server-side', `--field-manager=${manager}`, '-o', 'json', ...flags, '-f', '-'],
        JSON.stringify(object),
      ),
    ) as KubeObject & { spec: { controlPlaneConfig: object } }
  const { spec: first } = await applyAs('capi-topology', specimen)
  const ours = {
    ...specimen,
    spec: {
      controlPlaneEndpoint: { host: 'abc.eks.amazonaws.com', port: 443 },
      controlPlaneConfig: { addons: [{ name: 'coredns', version: 'v1' }] },
    },
  }
  await applyAs('capt-controlplane', ours)
  const { spec: tried } = await applyAs('capi-topology', specimen, '--force-conflicts', '--dry-run=server')
  expect(tried).toEqual({
    ...first,
    controlPlaneEndpoint: ours.spec.controlPlaneEndpoint,
    controlPlaneConfig: {
      ...first.controlPlaneConfig,
      addons: [{ name: 'vpc-cni' }, { name: 'coredns', version: 'v1' }],
    },
  })
  const generation = async () => (await kube.read(specimen))?.metadata.generation
  const before = await generation()
  await applyAs('capi-topology', specimen)
  expect(await generation()).toBe(before)
})

test('variables keep any JSON, null included', async () => {
  const namespace = await bed.namespace('variables')
  const variables = {
    text: 'a',
    number: 1.5,
    flag: false,
    nothing: null,
    list: ['a', { b: null }],
    deep: { a: { b: [1] } },
  }
  const tried = await kube.trial(
    aSpecimen(WorkspaceTemplateApply, namespace, { templateRef: { name: 'x' }, variables }),
  )
  expect(tried).toMatchObject({ accepted: { spec: { variables } } })
})

test('fields that a newer engine knows are kept under forProvider, and pruned elsewhere', async () => {
  const spec = { ...specimenSpec(WorkspaceTemplate), unknown: true }
  const module = { source: 'Inline', module: 'x', newField: { deep: [1] } }
  const tried = await kube.trial(
    aSpecimen(WorkspaceTemplate, 'default', { ...spec, template: { spec: { forProvider: module, newField: 1 } } }),
  )
  expect(tried).toMatchObject({ accepted: { spec: { template: { spec: { forProvider: module } } } } })
  expect(JSON.stringify(tried)).not.toContain('unknown')
  expect(tried).not.toHaveProperty('accepted.spec.template.spec.newField')
})

const predecessor = parseAllDocuments(readFileSync(join(import.meta.dirname, 'predecessor.yaml'), 'utf8')).map(
  (each) => each.toJS() as KubeObject,
)

test.each(predecessor)(
  "the predecessor's $kind/$metadata.name is accepted, and every field of it is kept",
  async (object) => {
    const namespace = await bed.namespace('predecessor')
    const tried = await kube.trial({ ...object, metadata: { ...object.metadata, namespace } })
    expect(tried).toMatchObject({ accepted: { spec: object['spec'] } })
  },
)
