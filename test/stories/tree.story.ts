// `capt tree`, run as a user runs it: on a cluster that real core brings up, on one of CAPT's own kinds that fails, and where there is
// nothing to show.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { join, resolve } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { CAPTCluster } from '../../src/api/captcluster.ts'
import { CAPTControlPlane } from '../../src/api/captcontrolplane.ts'
import { managedByAnnotation } from '../../src/api/contract.ts'
import { annotations } from '../../src/api/keys.ts'
import { crossplane } from '../../src/api/workspace.ts'
import { type Ended, ended } from '../../tools/ended.ts'
import type { KubeObject } from '../bed/kube.ts'
import { kubeconfig } from '../bed/kubeconfig.ts'
import { privateFile } from '../bed/private-file.ts'
import { tellControlPlaneMade, tellNetworkMade } from '../bed/standin.ts'
import { aWorkload, theBed } from '../bed/story.ts'
import {
  aBedCluster,
  aBedControlPlane,
  aCluster,
  aKubeconfigSecret,
  aWorkspace,
  aWorkspaceTemplateApply,
} from '../given.ts'
import { aSpecimen } from '../specimens.ts'
import { until } from '../until.ts'

const bed = theBed()
const { kube } = bed
const program = resolve(import.meta.dirname, '../../src/bin/capt.ts')
const workload = aWorkload()

interface Run {
  readonly child: ChildProcess
  readonly shown: () => string
  readonly ended: Promise<Ended>
}

function start(args: readonly string[], how: { readonly file?: string } = {}): Run {
  return startProgram(process.execPath, [program, 'tree', ...args], how)
}

function startProgram(
  command: string,
  args: readonly string[],
  { file = bed.kubeconfig }: { readonly file?: string } = {},
): Run {
  const child = spawn(command, args, {
    env: { ...process.env, KUBECONFIG: file, LANG: 'C.UTF-8', LC_ALL: '' },
  })
  let shown = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (shown += chunk.toString()))
  onTestFinished(() => void child.kill('SIGKILL'))
  return { child, shown: () => shown, ended: ended(child) }
}

const hasTerminal = spawnSync('script', ['--version']).status === 0

const capt = async (args: readonly string[], how?: { readonly file?: string }) => start(args, how).ended

async function seeLine({ child, shown }: Run, line: RegExp): Promise<void> {
  const look = async () => (line.test(shown()) ? true : undefined)
  const giveUp = () => (child.exitCode === null ? undefined : `it ended with ${child.exitCode}`)
  await until(`a line like ${line.source}`, look, { giveUp }).catch((error: unknown) => {
    throw new Error(`${String(error)}\nshown:\n${shown()}`, { cause: error })
  })
}

test('it follows a cluster until it is available, and then shows it whole', async () => {
  const namespace = await bed.namespace('tree')
  const [cluster, infra, controlPlane] = [
    aCluster({ namespace }),
    aBedCluster({ namespace }),
    aBedControlPlane({ namespace }),
  ]
  await kube.apply(infra, controlPlane, cluster)
  const run = start(['demo', '-n', namespace, '--until', 'available'])
  await seeLine(run, /^\+\d+s BedCluster\/demo: New$/m)
  await kube.apply(aKubeconfigSecret({ namespace, text: workload().kubeconfig }))
  await tellNetworkMade(kube, infra, workload())
  await seeLine(run, /^\+\d+s BedCluster\/demo: Ready$/m)
  await kube.see(controlPlane, 'is claimed by core', ({ metadata }) => metadata.ownerReferences !== undefined)
  await tellControlPlaneMade(kube, controlPlane)
  const { code, output, complaints } = await run.ended
  expect(complaints).toBe('')
  expect(code).toBe(0)
  const address = `https://${workload().host}:${workload().port}`
  expect(output.trimEnd().split('\n').at(-1)).toMatch(/^\+\d+s Available at /)
  const once = await capt(['demo', '-n', namespace])
  expect(once.code).toBe(0)
  expect(once.output.replaceAll(/ +\d+[smh]$/gm, '').replaceAll(/ {2,}/g, '  ')).toBe(
    [
      '● Cluster/demo  Available',
      '├─ ● BedCluster/demo  Ready',
      '└─ ● BedControlPlane/demo  Available',
      '  └─ ● 1 Secret  Ready',
      '',
      `Available at ${address}, Kubernetes v1.36.3`,
      '',
    ].join('\n'),
  )
}, 180_000)

// Nobody but this story looks after them.
const ownHands = { annotations: { [managedByAnnotation]: 'this-story' } }

function ourOwn(namespace: string) {
  const cluster: KubeObject = {
    ...aCluster({ namespace }),
    spec: {
      infrastructureRef: { apiGroup: CAPTCluster.group, kind: CAPTCluster.kind, name: 'demo-net' },
      controlPlaneRef: { apiGroup: CAPTControlPlane.group, kind: CAPTControlPlane.kind, name: 'demo-cp' },
    },
  }
  const inOwnHands = (object: KubeObject) => ({ ...object, metadata: { ...object.metadata, ...ownHands } })
  const network = inOwnHands(aSpecimen(CAPTCluster, namespace, undefined, 'demo-net'))
  const controlPlane = inOwnHands(aSpecimen(CAPTControlPlane, namespace, undefined, 'demo-cp'))
  return { cluster, network, controlPlane }
}

const said = (type: string, status: string, reason: string, message = '') => ({
  conditions: [{ type, status, reason, message, lastTransitionTime: new Date().toISOString() }],
})

describe('a cluster of our own kinds', () => {
  let namespace = ''
  let apply: KubeObject
  const quota =
    'VpcLimitExceeded: The maximum number of VPCs has been reached. (quota: raise the quota in Service Quotas)'
  beforeAll(async () => {
    namespace = await bed.namespace('tree-own')
    apply = aWorkspaceTemplateApply({ namespace, name: 'demo-net-vpc', template: 'vpc' })
    await kube.apply(ourOwn(namespace).cluster)
  })

  test('what the Cluster names and is not there is told, and is no success', async () => {
    const { code, output } = await capt(['demo', '-n', namespace])
    expect(output).toMatch(/✗ CAPTCluster\/demo-net +Missing/)
    expect(output).toContain(
      `Failed: CAPTCluster/demo-net (Missing)\n  Cluster ${namespace}/demo names it in spec.infrastructureRef`,
    )
    expect(code).toBe(1)
  })

  test('the reason worth reading is that of Terraform, deep down, and what waits for it is not', async () => {
    const { network, controlPlane } = ourOwn(namespace)
    await kube.apply(network, controlPlane)
    const owner = await kube.see(
      network,
      'is claimed by core',
      ({ metadata }) => metadata.ownerReferences !== undefined,
    )
    const { uid = '', name } = owner.metadata
    const ownerReferences = [{ apiVersion: network.apiVersion, kind: network.kind, name, uid, controller: true }]
    await kube.apply(
      {
        ...apply,
        metadata: {
          ...apply.metadata,
          ownerReferences,
          annotations: { ...ownHands.annotations, [annotations.workspace]: 'tf.m.upbound.io/demo-net-vpc' },
        },
      },
      aWorkspace({ namespace, name: 'demo-net-vpc', annotations: { [crossplane.paused]: 'true' } }),
    )
    await kube.patch(network, { status: said('Ready', 'False', 'NotProvisioned') }, 'status')
    await kube.patch(
      controlPlane,
      { status: said('Available', 'False', 'WaitingForClusterInfrastructureReady') },
      'status',
    )
    const status = {
      ...said('Ready', 'False', 'TerraformFailed', quota),
      failure: { class: 'quota', text: 'all of it' },
    }
    await kube.patch(apply, { status }, 'status')
    const { code, output } = await capt(['demo', '--namespace', namespace])
    expect(code).toBe(0)
    const lines = output.split('\n').map((line) => line.replace(/ +\d+[smh]$/, '').replaceAll(/(?<=\w) {2,}/g, '  '))
    expect(lines).toEqual([
      '✗ Cluster/demo  NotAvailable',
      '├─ ○ CAPTCluster/demo-net  NotProvisioned',
      '│  └─ ✗ WorkspaceTemplateApply/demo-net-vpc  TerraformFailed',
      '│     └─ ‖ Workspace/demo-net-vpc  Paused',
      '└─ ○ CAPTControlPlane/demo-cp  Waiting',
      '      WaitingForClusterInfrastructureReady',
      '',
      expect.stringMatching(/^Failed: WorkspaceTemplateApply\/demo-net-vpc \(TerraformFailed, \d+s\)$/),
      '  VpcLimitExceeded: The maximum number of VPCs has been reached.',
      '  → raise the quota in Service Quotas',
      '',
    ])
  })

  test('each change is a line, until it is interrupted', async () => {
    const run = start(['demo', '-n', namespace, '--watch'])
    await seeLine(run, /^\+\d+s WorkspaceTemplateApply\/demo-net-vpc: TerraformFailed: VpcLimitExceeded/m)
    await kube.patch(apply, { status: said('Ready', 'False', 'Planning') }, 'status')
    await seeLine(run, /^\+\d+s WorkspaceTemplateApply\/demo-net-vpc: Planning$/m)
    run.child.kill('SIGINT')
    expect(await run.ended).toMatchObject({ code: 0, complaints: '' })
  })

  test.skipIf(!hasTerminal)(
    'on a terminal it is drawn again in its place, and Ctrl-C gives the cursor back',
    async () => {
      // Without exec the shell would get the Ctrl-C as well, and end by it.
      const command = ['exec', process.execPath, program, 'tree', 'demo', '-n', namespace, '--watch'].join(' ')
      const run = startProgram('script', ['--quiet', '--flush', '--return', '--command', command, '/dev/null'])
      await seeLine(run, /WorkspaceTemplateApply\/demo-net-vpc/)
      await kube.patch(apply, { status: said('Ready', 'False', 'Creating') }, 'status')
      await seeLine(run, /Creating/)
      run.child.stdin?.write('\u0003')
      expect((await run.ended).code).toBe(0)
      expect(run.shown()).toContain('\u001B[?25l')
      expect(run.shown()).toMatch(/\[\d+A\r/)
      expect(run.shown().lastIndexOf('\u001B[?25h')).toBeGreaterThan(run.shown().lastIndexOf('Creating'))
    },
  )
})

describe('where there is nothing to show, a sentence says why', () => {
  const cannot = async (args: readonly string[], file?: string) => {
    const { code, output, complaints } = await capt(args, file === undefined ? {} : { file })
    expect(output).toBe('')
    return [code, complaints]
  }

  test('a Cluster that is elsewhere', async () => {
    const [here, there] = [await bed.namespace('tree-here'), await bed.namespace('tree-there')]
    const name = `only-${there}`
    await kube.apply(aCluster({ namespace: there, name }))
    for (const how of [[], ['--watch']]) {
      expect(await cannot([name, '-n', here, ...how])).toEqual([
        1,
        `there is no Cluster ${name} in namespace ${here}; there is ${there}/${name} (namespace/name): pass --namespace.\n`,
      ])
    }
  })

  test('an API server that is away', async () => {
    const file = privateFile(
      join(bed.folder, 'away.kubeconfig'),
      kubeconfig({ server: 'https://127.0.0.1:9', ca: bed.ca }, { token: 'x' }),
    )
    const [code, complaints] = await cannot(['demo'], file)
    expect(code).toBe(1)
    expect(complaints).toMatch(
      /^the API server https:\/\/127\.0\.0\.1:9 cannot be reached: .*ECONNREFUSED.*\. See whether it runs/,
    )
  })

  test('a user who may not, or who may not see all', async () => {
    const namespace = await bed.namespace('tree-user')
    await kube.apply(aCluster({ namespace }), {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'user', namespace },
    })
    const token = (await kube.kubectl(['create', 'token', 'user', '--namespace', namespace])).trim()
    const file = privateFile(join(bed.folder, `${namespace}.kubeconfig`), kubeconfig(bed, { token }))
    expect(await cannot(['demo', '-n', namespace], file)).toEqual([
      1,
      `you may not list and watch clusters.cluster.x-k8s.io in namespace ${namespace}: a role with these verbs lets you\n`,
    ])
    const rbac = 'rbac.authorization.k8s.io'
    await kube.apply(
      {
        apiVersion: `${rbac}/v1`,
        kind: 'Role',
        metadata: { name: 'user', namespace },
        rules: [
          {
            apiGroups: ['cluster.x-k8s.io', CAPTCluster.group, CAPTControlPlane.group],
            resources: ['*'],
            verbs: ['list', 'watch'],
          },
        ],
      },
      {
        apiVersion: `${rbac}/v1`,
        kind: 'RoleBinding',
        metadata: { name: 'user', namespace },
        roleRef: { apiGroup: rbac, kind: 'Role', name: 'user' },
        subjects: [{ kind: 'ServiceAccount', name: 'user', namespace }],
      },
    )
    const output = await until('the right is known', async () => {
      const run = await capt(['demo', '-n', namespace], { file })
      return run.output || undefined
    })
    expect(output).toMatch(/^✗ Cluster\/demo/)
    expect(output).toContain(
      `Not shown: Secrets (you may not list and watch secrets in namespace ${namespace}: a role with these verbs lets you)`,
    )
  })

  test('a token of nobody', async () => {
    const file = privateFile(join(bed.folder, 'nobody.kubeconfig'), kubeconfig(bed, { token: 'nobody' }))
    const [code, complaints] = await cannot(['demo'], file)
    expect(code).toBe(1)
    expect(complaints).toMatch(/does not know you: log in again/)
  })

  test('a command that makes no sense', async () => {
    expect(await cannot([])).toEqual([2, "missing required argument 'cluster' (see --help)\n"])
    expect(await cannot(['demo', '--colour'])).toEqual([2, 'there is no flag --colour (see --help)\n'])
    expect(await cannot(['demo', '--kubeconfig', '/nowhere'])).toEqual([1, expect.stringContaining('/nowhere')])
  })
})
