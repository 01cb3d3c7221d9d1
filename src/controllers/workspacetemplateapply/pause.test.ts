import { describe, expect, test } from 'vitest'
import { condition } from '../../../test/applies.ts'
import { anApply, aWorkspace, aWorld, look, type There } from '../../../test/applyworld.ts'
import { but, cluster, controlPlane, network } from '../../../test/controlplanes.ts'
import { CAPTCluster } from '../../api/captcluster.ts'
import { CAPTControlPlane } from '../../api/captcontrolplane.ts'
import { annotations, labels } from '../../api/keys.ts'
import { Cluster } from '../../api/neighbours.ts'
import { type KubeObject, type Resource, resourceName, tellKey } from '../../api/resource.ts'
import { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'
import { ownedBy } from '../childapply.ts'
import { pausing } from './pause.ts'

type Apply = WorkspaceTemplateApply

describe('who else keeps it still', () => {
  const pausedNote = { 'cluster.x-k8s.io/paused': '' }
  const mine = anApply({
    name: 'demo-vpc',
    ownerReferences: [ownedBy(network)],
    labels: { 'cluster.x-k8s.io/cluster-name': 'demo' },
    annotations: { [annotations.revision]: 'r' },
  })
  const stripped = { ownerReferences: [], labels: {} }
  const still = but(cluster, { spec: { paused: true } })
  const annotated = but(network, { metadata: { annotations: pausedNote } })
  const ownerless = but(network, { metadata: { ownerReferences: [] } })
  const there = (of: Cluster, whose: CAPTCluster = network, plane = controlPlane): There => [
    [Cluster, of],
    [CAPTCluster, whose],
    [CAPTControlPlane, plane],
  ]
  const byItsCluster = 'Cluster team/demo is paused (spec.paused)'
  const byItsNetwork = 'CAPTCluster team/demo is paused (annotation cluster.x-k8s.io/paused)'
  const bare = anApply({ ...mine.metadata, ...stripped })
  const eks = anApply({ ...mine.metadata, ...stripped, name: 'demo-eks-controlplane' })
  const wasPaused = (message: string) =>
    anApply(mine.metadata, {}, { conditions: [condition('Paused', 'True', 'Paused', { message })] })
  test.each<[string, Apply, There, readonly string[]]>([
    ['nobody', mine, there(cluster), []],
    ['its Cluster', mine, there(still), [byItsCluster]],
    ['its Cluster, which only its label names', mine, [[Cluster, still]], [byItsCluster]],
    ['its Cluster, though it was stripped of owner and label', bare, there(still), [byItsCluster]],
    ['its Cluster, though what asks for it was stripped, too', bare, there(still, ownerless), [byItsCluster]],
    ['its Cluster, of a control plane', eks, there(still), [byItsCluster]],
    ['the network that asks for it', mine, there(cluster, annotated), [byItsNetwork]],
    ['both', mine, there(still, annotated), [byItsCluster, byItsNetwork]],
    ['nobody, when the network next to it is', anApply({ ...eks.metadata }), there(cluster, annotated), []],
    ['nobody, when it only has the name of one', anApply({ name: 'demo-vpc' }), there(still, annotated), []],
    ['nobody, when it is for more than one cluster', anApply({ name: 'spot-role-default' }), there(still), []],
    ['nobody, when its Cluster is gone', mine, [[CAPTCluster, network]], []],
    [
      'its Cluster, which was paused and is gone: it may have been moved away',
      wasPaused(byItsCluster),
      [],
      [
        'Cluster team/demo was paused, and is gone; if it was not moved, let it go on: kubectl label workspacetemplateapply demo-vpc --namespace team cluster.x-k8s.io/cluster-name-',
      ],
    ],
    [
      'nobody, when its Cluster is gone and it was paused by itself',
      wasPaused('WorkspaceTemplateApply team/x is'),
      [],
      [],
    ],
  ])('%s', async (_, subject, world, by) => {
    expect((await look(subject, world)).pause).toEqual({ by, isKept: false })
  })

  const arrived = anApply({
    ...mine.metadata,
    ownerReferences: [],
    labels: { 'cluster.x-k8s.io/cluster-name': 'demo', [labels.cluster]: 'demo' },
    annotations: { [annotations.revision]: 'r', [annotations.workspace]: 'tf.m.upbound.io/demo-vpc' },
  })
  const alone = 'kubectl label workspacetemplateapply demo-vpc --namespace team cluster.x-k8s.io/cluster-name-'
  const unknown = 'is not here yet, and nobody knows whether it is paused; if it is not to come, let this go on alone:'
  const theirs = anApply({ ...arrived.metadata, labels: { 'cluster.x-k8s.io/cluster-name': 'demo' } })
  const blocked = but(theirs, {
    metadata: { annotations: { ...arrived.metadata.annotations, 'clusterctl.cluster.x-k8s.io/block-move': 'true' } },
  })
  const known = { status: { workspaceName: 'demo-vpc' } }
  test.each<[string, Apply, There, string | undefined]>([
    ['its Cluster', arrived, [[CAPTCluster, network]], `Cluster team/demo ${unknown} ${alone}`],
    [
      'whoever asks for it',
      arrived,
      [[Cluster, cluster]],
      `the CAPTCluster or CAPTControlPlane that asks for it ${unknown} ${alone}`,
    ],
    ['nobody, when all are here', arrived, there(cluster), undefined],
    ['nobody, when it was seen to have its Workspace here', but(arrived, known), [], undefined],
    ['nobody, when it never had one', mine, [], undefined],
    ["its Cluster, of a user's own that was paused", theirs, [], `Cluster team/demo ${unknown} ${alone}`],
    ["nobody else, of a user's own", theirs, [[Cluster, cluster]], undefined],
    ["nobody, of a user's own that was not paused", blocked, [], undefined],
    [
      "its Cluster, of a user's own whose Workspace was paused and could not be moved",
      blocked,
      aWorkspace('tf.m.upbound.io', 'demo-vpc', { annotations: { [annotations.paused]: 'true' } }),
      `Cluster team/demo ${unknown} ${alone}`,
    ],
    [
      'nobody, when a user has let it go on alone',
      but(arrived, { metadata: { labels: { [labels.cluster]: 'demo' } } }),
      [],
      undefined,
    ],
    [
      'nobody, but begins nothing, when whoever asks for it is given up',
      arrived,
      there(
        cluster,
        but(network, {
          metadata: { deletionTimestamp: '2026-11-16T11:00:00Z', annotations: { [annotations.forceDelete]: 'true' } },
        }),
      ),
      'CAPTCluster team/demo is given up: nothing more is done for it',
    ],
  ])('where it came back, it waits for %s', async (_, subject, world, awaits) => {
    expect((await look(subject, world)).pause.awaits).toBe(awaits)
  })

  test('what is kept paused on the one that asks for it is kept on it', async () => {
    const kept = but(network, { metadata: { annotations: { [annotations.keepPaused]: '' } } })
    expect((await look(mine, there(cluster, kept))).pause.isKept).toBe(true)
    expect((await look(anApply({ annotations: { [annotations.keepPaused]: '' } }), [])).pause.isKept).toBe(true)
  })

  const wokenIn =
    ({ read }: ReturnType<typeof aWorld>) =>
    (resource: Resource, object: KubeObject) =>
      pausing
        .filter((source) => resourceName(source.resource) === resourceName(resource))
        .flatMap((source) => source.wakes(object, WorkspaceTemplateApply, read))
        .map(tellKey)

  test('who comes after it wakes it', () => {
    const woken = wokenIn(aWorld([...there(cluster), [WorkspaceTemplateApply, arrived]]))
    expect(woken(Cluster, cluster)).toEqual(['team/demo-vpc'])
    expect(woken(CAPTCluster, network)).toEqual(['team/demo-vpc'])
    expect(woken(CAPTControlPlane, controlPlane)).toEqual([])
  })

  test('they wake it while they are paused, and only then', () => {
    const woken = wokenIn(aWorld([...there(still), [WorkspaceTemplateApply, mine]]))
    expect(new Set(woken(Cluster, still))).toEqual(new Set(['team/demo-vpc', 'team/demo-eks-controlplane']))
    expect(woken(Cluster, cluster)).toEqual([])
    expect(woken(CAPTCluster, annotated)).toEqual(['team/demo-vpc'])
    expect(woken(CAPTCluster, network)).toEqual([])
    const plane = but(controlPlane, { metadata: { annotations: { [annotations.keepPaused]: '' } } })
    expect(woken(CAPTControlPlane, plane)).toEqual(['team/demo-eks-controlplane'])
  })
})
