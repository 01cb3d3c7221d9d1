// make quickstart: a management cluster of real parts on this machine, Terraform running on it by Kubernetes objects, and a
// sample cluster going to Available. On a terminal it stays up until Ctrl-C; elsewhere it stops when it has shown everything.
import { readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { type Bed, startBed } from '../test/bed/bed.ts'
import { conditionsOf } from '../test/bed/describe.ts'
import type { KubeObject } from '../test/bed/kube.ts'
import { tellControlPlaneMade, tellNetworkMade } from '../test/bed/standin.ts'
import { startWorkload, type Workload } from '../test/bed/workload.ts'
import { aBedCluster, aBedControlPlane, aCluster, aKubeconfigSecret } from '../test/given.ts'
import { elapsedLines } from './elapsed.ts'
import { command, howToReach, untilInterrupted } from './stay.ts'

const say = elapsedLines()
const root = resolve(import.meta.dirname, '..')
const examples = join(root, 'examples/terraform')

await command(async () => {
  console.log(
    'A management cluster of real parts (etcd, kube-apiserver, Cluster API core, OpenTofu), on this machine, offline.\n',
  )
  const bed = await startBed({ say })
  say('starting a workload cluster')
  const workload = await startWorkload()
  try {
    await runTerraform(bed)
    await bringUpSample(bed, workload)
    await showSample(bed)
    await tellWhatToTry(bed)
  } catch (error) {
    throw new Error(`${(error as Error).message}\nlogs of every part: ${await bed.keepLogs()}`, { cause: error })
  } finally {
    await Promise.all([workload.stop(), bed.stop()])
  }
  console.log('\nstopped; nothing is left behind')
})

// One apply that converges and one that Terraform refuses, each told as it goes.
async function runTerraform({ kube }: Bed): Promise<void> {
  const [hello, failing] = [anApplyIn('hello.yaml'), anApplyIn('failing.yaml')]
  for (const file of ['hello.yaml', 'failing.yaml']) {
    say(`kubectl apply -f ${relative(root, join(examples, file))}`)
    await kube.kubectl(['apply', '--namespace=default', '-f', join(examples, file)])
  }
  const follow = async (apply: KubeObject, end: string) => {
    const said = new Set<string>()
    await kube.see(apply, `says ${end}`, (seen) => {
      const applied = conditionsOf(seen).find(({ type }) => type === 'Applied')
      const line = `apply ${apply.metadata.name}: ${applied?.reason ?? 'new'}`
      if (!said.has(line)) say(line)
      said.add(line)
      return applied?.reason === end
    })
  }
  await Promise.all([follow(hello, 'Converged'), follow(failing, 'TerraformFailed')])
}

function anApplyIn(file: string): KubeObject {
  const objects = parseAllDocuments(readFileSync(join(examples, file), 'utf8')).map((each) => each.toJS() as KubeObject)
  const apply = objects.find(({ kind }) => kind === 'WorkspaceTemplateApply')
  if (!apply) throw new Error(`${file} has no WorkspaceTemplateApply`)
  return { ...apply, metadata: { ...apply.metadata, namespace: 'default' } }
}

async function bringUpSample({ kube }: Bed, workload: Workload): Promise<void> {
  const namespace = 'default'
  const cluster = aCluster({ namespace })
  const network = aBedCluster({ namespace })
  const controlPlane = aBedControlPlane({ namespace })

  say('applying the sample: a Cluster, its network and its control plane')
  await kube.apply(network, controlPlane, cluster)
  await kube.see(controlPlane, 'is claimed by Cluster API', ({ metadata }) => metadata.ownerReferences !== undefined)
  say('Cluster API has claimed them; filling in, by hand, what a provider reports')
  await kube.apply(aKubeconfigSecret({ namespace, text: workload.kubeconfig }))
  await tellNetworkMade(kube, network, workload)
  await kube.seeCondition(cluster, 'InfrastructureReady', 'True')
  say('the network is there')
  await tellControlPlaneMade(kube, controlPlane)
  await kube.seeCondition(cluster, 'Available', 'True', { withinSeconds: 90 })
  say('the Cluster is Available: Cluster API reaches its API server')
}

async function showSample(bed: Bed): Promise<void> {
  const show = async (args: readonly string[], program: 'kubectl' | 'clusterctl' = 'kubectl') => {
    const output = program === 'kubectl' ? await bed.kube.kubectl(args) : await bed.clusterctl(args)
    console.log(`\n$ ${program} ${args.join(' ')}\n${output.trimEnd()}`)
  }
  await show(['get', 'workspacetemplateapplies'])
  await show(['get', 'workspacetemplateapply', 'hello', '--output=jsonpath={.status.outputs}'])
  const ready = "{.status.conditions[?(@.type=='Ready')].message}"
  await show(['get', 'workspacetemplateapply', 'failing', `--output=jsonpath=${ready}`])
  await show(['describe', 'cluster', 'demo'], 'clusterctl')
}

async function tellWhatToTry(bed: Bed): Promise<void> {
  if (!process.stdout.isTTY) {
    console.log(`
What to try next:
  make bed     keeps such a management cluster up and prints how to reach it
  make test    runs every test
  make help    lists the rest`)
    return
  }
  console.log(`
${howToReach(bed)}
Try there, in this folder:
  kubectl describe workspacetemplateapply failing        # what Terraform refused, and what to do
  kubectl patch workspacetemplateapply failing --type=merge -p '{"spec":{"variables":{"size":3}}}'   # mend it
  kubectl apply -f examples/terraform/chain.yaml         # one apply feeds another
  kubectl apply -f examples/terraform/guarded.yaml       # its comments show a change that is held for approval
  kubectl get workspacetemplateapplies --watch
  kubectl delete workspacetemplateapply hello            # Terraform destroys what it built
  kubectl --kubeconfig <(clusterctl get kubeconfig demo) get namespaces   # the workload cluster
  kubectl delete cluster demo                            # and watch it go
Ctrl-C here stops everything and leaves nothing behind.`)
  await untilInterrupted()
}
