import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  anApply,
  applied,
  aWorkspaceOf,
  clusters,
  fourSecrets,
  isReady,
  made,
  network,
  now,
  plane,
  says,
  situation,
  someObjects,
  theCluster,
  theNetwork,
  thePlane,
} from '../../test/pictured.ts'
import { annotations } from '../api/keys.ts'
import type { KubeObject } from '../api/resource.ts'
import type { WorkspaceTemplateApply } from '../api/workspacetemplateapply.ts'
import { cameWithoutState } from '../controllers/workspacetemplateapply/arriving.ts'
import { tellFailure } from '../controllers/workspacetemplateapply/progress.ts'
import { readFailure } from '../terraform/failure.ts'
import { judgeState } from '../terraform/state.ts'
import { commandToApply, commandToRestore } from '../terraform/word.ts'
import { changesBetween } from './change.ts'
import { labelOf, type Node } from './node.ts'
import { type Picture, pictureOf } from './picture.ts'
import { conditionsOf } from './read.ts'
import type { Situation } from './situation.ts'

function look(seen: Situation | undefined): Picture {
  const picture = seen && pictureOf(seen, now)
  if (!picture) throw new Error('there is no such Cluster')
  return picture
}

function nodesIn(node: Node): readonly Node[] {
  return [node, ...node.children.flatMap(nodesIn)]
}

test.each([
  ['demo.example.com', 443, 'https://demo.example.com'],
  ['demo.example.com', 6443, 'https://demo.example.com:6443'],
  ['2001:db8::443', 443, 'https://[2001:db8::443]'],
  ['2001:db8::1', 6443, 'https://[2001:db8::1]:6443'],
])('an API server at %s and port %d is shown as a URL', (host, port, shown) => {
  expect(look(situation(theCluster({ spec: { controlPlaneEndpoint: { host, port } } }))).endpoint).toBe(shown)
})

test.each<[when: string, cause: string]>([
  ['all is there', ''],
  ['a Cluster that nobody has looked at yet', 'waiting CAPTCluster/demo'],
  ['the network is planned', 'working WorkspaceTemplateApply/demo-vpc'],
  ['the network is built', 'working WorkspaceTemplateApply/demo-vpc'],
  ['EKS is built', 'working WorkspaceTemplateApply/demo-eks-controlplane'],
  ['EKS is there and core cannot reach it', 'failed Cluster/demo'],
  ['the VPC failed', 'failed WorkspaceTemplateApply/demo-vpc'],
  ['a lock is in the way', 'failed WorkspaceTemplateApply/demo-vpc'],
  ['an upgrade of EKS failed, and the cluster serves on', 'failed WorkspaceTemplateApply/demo-eks-controlplane'],
  ['an upgrade of EKS runs', 'working WorkspaceTemplateApply/demo-eks-controlplane'],
  ['the kubeconfigs cannot be made', 'failed CAPTControlPlane/demo'],
  ['a token was not renewed', 'failed Secret/demo-kubeconfig'],
  ['the Cluster is paused', 'paused Cluster/demo'],
  ['the Cluster is deleted, and a load balancer stays in it', 'asking CAPTControlPlane/demo'],
  ['a plan waits for approval', 'asking WorkspaceTemplateApply/demo-eks-controlplane'],
  ['the Cluster is deleted, and EKS goes', 'working WorkspaceTemplateApply/demo-eks-controlplane'],
  ['the Cluster is deleted, and the network cannot be destroyed', 'failed WorkspaceTemplateApply/demo-vpc'],
  ['what the Cluster names is not there', 'failed CAPTCluster/demo'],
  ['the manager does not run, and its engine has failed', 'failed Workspace/demo-vpc'],
  ['a message that is long', 'failed CAPTCluster/demo'],
  ['workers, a role for Spot and an apply of one’s own', 'working WorkspaceTemplateApply/spot-role-default'],
])('when %s, the reason worth reading is: %s', (when, expected) => {
  const { cause } = look(clusters[when])
  expect(cause ? `${cause.standing} ${labelOf(cause)}` : '').toBe(expected)
})

test('every situation of the list has a row above', () => {
  expect(Object.keys(clusters)).toHaveLength(21)
})

test.each<[reason: string, standing: string]>([
  ['ReconcileFailed', 'failed'],
  ['ClusterUpgrading', 'working'],
])('a topology that says %s, before anything hangs on the Cluster, is the reason', (reason, standing) => {
  const message = '* TopologyReconciled: why'
  const cluster = made('cluster.x-k8s.io/v1beta2', 'Cluster', 'demo', {
    spec: { topology: {} },
    says: [says('Available', 'False', 'NotAvailable', message), says('TopologyReconciled', 'False', reason, 'why')],
  })
  expect(look(situation(cluster)).cause).toMatchObject({ kind: 'Cluster', standing, message })
})

test('many of a kind that are ready are a number, and one that is not is shown', () => {
  const applies = (ready: number, failed: number) =>
    Array.from({ length: ready + failed }, (_, at) =>
      anApply(`part-${at}`, {
        ownedBy: theNetwork(),
        annotations: {},
        says: [at < ready ? applied('Ready', 'Ready') : applied('Ready', 'TerraformFailed', 'no')],
      }),
    )
  const shown = (...objects: readonly KubeObject[]) =>
    nodesIn(look(situation(theCluster(), theNetwork(), ...objects)).tree).map(labelOf)
  expect(shown(...applies(4, 0))).toContain('4 WorkspaceTemplateApplies')
  expect(shown(...applies(3, 1))).toContain('WorkspaceTemplateApply/part-3')
})

// What the judge of an apply writes, and what is read from it here, are one form.
test.each<[string, string]>([
  ['a quota', 'Error: creating VPC: VpcLimitExceeded: The maximum number of VPCs (5) has been reached.'],
  ['no credentials', 'Error: No valid credential sources found'],
  ['what nobody knows', 'Error: something (odd) happened'],
  [
    'a lock',
    'Error: Error acquiring the state lock\n\nLock Info:\n  ID:        1a-2b\n  Who:       engine@1\n  Created:   2026-11-17\n  Operation: OperationTypeApply\n',
  ],
])('of %s that failed, why, what to do and how are told apart', (_, printed) => {
  const packed = gzipSync(printed).toString('base64')
  const failure = readFailure(
    `create failed: Terraform encountered an error. Summary: x. To see the full error run: echo "${packed}" | base64 -d | gunzip`,
  )
  const apply = anApply('demo-vpc', { ownedBy: theNetwork() }) as unknown as WorkspaceTemplateApply
  const message = tellFailure(apply, failure)
  const failed = anApply('demo-vpc', {
    ownedBy: theNetwork(),
    says: [applied('Ready', 'TerraformFailed', message)],
    status: { failure: { class: failure.class, text: failure.text } },
  })
  const { message: why, advice, command } = look(situation(theCluster(), theNetwork(), thePlane(), failed)).cause ?? {}
  expect({ why, advice, command }).toEqual({
    why: failure.summary,
    advice: failure.hint,
    command: failure.lock && commandToApply(apply.metadata, annotations.unlock, failure.lock),
  })
})

test('of a state that is missing, the way to bring it back is told, and none that makes all of it anew', () => {
  const whose = { namespace: 'default', name: 'demo-vpc' }
  const verdict = judgeState({
    known: { lineage: 'l', serial: 7, isEmpty: false },
    found: { where: 'Secret states/tfstate-demo-capt', head: 'absent' },
    wasThere: true,
    uid: 'u',
    wish: 'make',
    approve: undefined,
    command: (id) => commandToApply(whose, annotations.approve, id),
    restore: commandToRestore(whose),
  })
  const gone = 'message' in verdict ? verdict.message : ''
  const came = cameWithoutState(
    { apply: anApply('demo-vpc', {}) as unknown as WorkspaceTemplateApply, isLuggageLost: true },
    { externalName: 'default.demo-vpc' },
  )
  const counselOf = (message: string) => {
    const failed = anApply('demo-vpc', {
      ownedBy: theNetwork(),
      says: [applied('Ready', 'StateMissing', message)],
      status: { failure: { class: 'unknown', text: message } },
    })
    const {
      message: why,
      advice,
      command,
    } = look(situation(theCluster(), theNetwork(), thePlane(), failed)).cause ?? {}
    return { why, advice, command }
  }
  expect(counselOf(gone)).toEqual({
    why: 'the state in Secret states/tfstate-demo-capt is gone (serial 7, lineage l)',
    advice: 'restore it from a copy',
    command: 'capt state restore demo-vpc --namespace default --at latest',
  })
  expect(counselOf(came ?? '')).toMatchObject({
    advice: 'bring it, or restore its state',
    command: expect.stringMatching(
      /^capt state restore demo-vpc --namespace default --from FILE --secret \S+$/,
    ) as string,
  })
})

test('a Cluster that is not there has no picture', () => {
  expect(pictureOf(situation(), now)).toBeUndefined()
})

test('what is waited for is named, where nothing else is to say', () => {
  const waits = anApply('demo-vpc', {
    ownedBy: theNetwork(),
    says: [applied('Ready', 'WaitingForSecrets', 'waits for Secret default/vpn')],
  })
  const { cause } = look(situation(theCluster(), theNetwork(network('Ready', 'NotProvisioned')), thePlane(), waits))
  expect(cause).toMatchObject({
    kind: 'WorkspaceTemplateApply',
    standing: 'waiting',
    message: 'waits for Secret default/vpn',
  })
})

test('what failed elsewhere is the reason, and not the one that depends on it', () => {
  const [vpc, dns] = [
    anApply('demo-vpc', {
      ownedBy: theNetwork(),
      says: [applied('Ready', 'DependencyFailed', 'demo-role has failed')],
    }),
    anApply('demo-role', {
      labels: { 'cluster.x-k8s.io/cluster-name': 'demo' },
      says: [applied('Ready', 'TerraformFailed', 'AccessDenied')],
    }),
  ]
  const { cause } = look(situation(theCluster(), theNetwork(network('Ready', 'NotProvisioned')), thePlane(), vpc, dns))
  expect(cause).toMatchObject({ name: 'demo-role', message: 'AccessDenied' })
})

describe('kinds of others', () => {
  const ref = { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'AWSCluster', name: 'net' }
  const theirs = (status: object) => made('infrastructure.cluster.x-k8s.io/v1beta2', 'AWSCluster', 'net', { status })
  test.each<[string, object, string]>([
    [
      'by their condition Ready',
      { conditions: [says('Ready', 'False', 'VpcReconciliationFailed', 'no')] },
      'failed VpcReconciliationFailed',
    ],
    [
      'by newer conditions first',
      { conditions: [says('Ready', 'True', 'Old')], v1beta2: { conditions: [says('Ready', 'False', 'WaitingForX')] } },
      'waiting Waiting',
    ],
    [
      'by Available, where they have it',
      { conditions: [says('Ready', 'False', 'No'), says('Available', 'True', 'Yes')] },
      'ready Available',
    ],
    ['by status.ready', { ready: true }, 'ready Ready'],
    ['by a phase', { phase: 'Failed' }, 'failed Failed'],
    ['as new, where they say nothing', {}, 'waiting New'],
  ])('are read %s', (_, status, told) => {
    const { tree } = look(situation(theCluster({ spec: { infrastructureRef: ref } }), theirs(status), thePlane()))
    const [theirNode] = tree.children
    expect(theirNode).toMatchObject({ kind: 'AWSCluster', name: 'net' })
    expect(`${theirNode?.standing} ${theirNode?.state}`).toBe(told)
  })

  test('one that may not be read is not said to be missing', () => {
    const seen = situation(theCluster({ spec: { infrastructureRef: ref } }), thePlane())
    const picture = look({ ...seen, unseen: [{ kind: 'AWSCluster', why: 'you may not' }] })
    expect(picture.isWhole).toBe(true)
    expect(picture.tree.children[0]).toMatchObject({ state: 'NotSeen', message: 'you may not' })
  })
})

test('what only waits tells nothing of what is there already', () => {
  const plain = thePlane({
    says: [plane('Available', 'Available'), plane('EndpointReady', 'Unknown', 'not known yet')],
  })
  const { tree } = look(situation(theCluster(), plain))
  expect(tree.children[1]).toMatchObject({ kind: 'CAPTControlPlane', standing: 'ready', state: 'Available' })
})

test('a Workspace is found by what its apply wrote down, by what it says, or by its own word', () => {
  const workspace = aWorkspaceOf('demo-vpc', ...isReady)
  const told = { workspaceAPI: 'tf.m.upbound.io', workspaceName: 'demo-vpc' }
  const ownedBy = theNetwork()
  const applies = [
    anApply('demo-vpc', { ownedBy }),
    anApply('other', { ownedBy, annotations: {}, status: told }),
    anApply('demo-vpc', { ownedBy, annotations: {} }),
  ]
  for (const apply of applies) {
    const nodes = nodesIn(look(situation(theCluster(), theNetwork(), apply, workspace)).tree)
    expect(nodes.find(({ kind }) => kind === 'WorkspaceTemplateApply')?.children).toMatchObject([
      { kind: 'Workspace', name: 'demo-vpc', standing: 'ready' },
    ])
  }
})

test('no byte of a Secret is in the picture', () => {
  const leaky = fourSecrets.map((each) => ({ ...each, data: { value: 'dG9wLXNlY3JldA==' } }))
  expect(JSON.stringify(look(situation(theCluster(), thePlane(), ...leaky)))).not.toContain('dG9wLXNlY3JldA==')
})

test('a circle of owners is walked once', () => {
  const first = made('infrastructure.cluster.x-k8s.io/v1beta1', 'CAPTMachineSet', 'a', {
    spec: { clusterName: 'demo' },
  })
  const second = made('infrastructure.cluster.x-k8s.io/v1beta1', 'CAPTMachineSet', 'b', { ownedBy: first })
  const circle = { ...first, metadata: { ...first.metadata, ownerReferences: second.metadata.ownerReferences ?? [] } }
  const all = nodesIn(
    look(
      situation(
        theCluster(),
        thePlane(),
        {
          ...circle,
          metadata: {
            ...circle.metadata,
            ownerReferences: [{ apiVersion: '', kind: 'CAPTMachineSet', name: 'b', uid: 'CAPTMachineSet-b' }],
          },
        },
        second,
      ),
    ).tree,
  )
  expect(all.filter(({ kind }) => kind === 'CAPTMachineSet').map(({ name }) => name)).toEqual(['a', 'b'])
})

test('between two pictures it is told what changed, from the bottom up', () => {
  const [before, after] = [look(clusters['the network is built']), look(clusters['the VPC failed'])]
  expect(changesBetween(before, before)).toEqual([])
  expect(changesBetween(before, after)).toEqual([
    'Workspace/demo-vpc: Failed',
    expect.stringMatching(/^WorkspaceTemplateApply\/demo-vpc: TerraformFailed: creating EC2 VPC .*\)$/),
    'CAPTCluster/demo: VPCCreationFailed',
  ])
  expect(changesBetween(after, { ...after, tree: { ...after.tree, children: [] } })).toContain(
    'Workspace/demo-vpc: gone',
  )
})

test('whatever objects there are, partial or odd: what is not well has a cause, and no message is lost', () => {
  fc.assert(
    fc.property(someObjects, (objects) => {
      const { cause, tree } = look(situation(...objects))
      const nodes = nodesIn(tree)
      const troubled = nodes.filter(({ standing }) => standing !== 'ready')
      expect(cause === undefined).toBe(troubled.length === 0)
      expect(troubled.filter(({ state }) => state === '')).toEqual([])
      const isWaiting = cause?.standing === 'waiting'
      expect(isWaiting && troubled.some(({ standing }) => standing !== 'waiting')).toBe(false)
      // Nothing is shown twice.
      const labels = nodes.filter(({ name, state }) => name !== undefined && state !== 'not there').map(labelOf)
      expect(new Set(labels).size).toBe(labels.length)
      expect(troubled.filter((node) => isLost(node, objects))).toEqual([])
    }),
    { numRuns: 500 },
  )
})

// What an object of ours gave as its only reason is neither said by it nor further down.
function isLost(node: Node, objects: readonly KubeObject[]): boolean {
  const object = objects.find(({ kind, metadata }) => kind === node.kind && metadata.name === node.name)
  if (!object || !node.kind.startsWith('CAPT') || object.metadata.deletionTimestamp !== undefined) return false
  const said = conditionsOf(object).filter(
    ({ status, reason, message }) => status === 'False' && reason === node.reason && message,
  )
  const told = nodesIn(node).flatMap(({ message }) => message ?? [])
  return said.length === 1 && !told.some((message) => said[0]?.message.includes(message))
}
