// make quickstart: a management cluster of real parts on this machine, and a sample cluster going to Available on it.
// On a terminal it stays up until Ctrl-C; elsewhere it stops when it has shown everything.
import { type Bed, startBed } from '../test/bed/bed.ts'
import { tellControlPlaneMade, tellNetworkMade } from '../test/bed/standin.ts'
import { startWorkload, type Workload } from '../test/bed/workload.ts'
import { aBedCluster, aBedControlPlane, aCluster, aKubeconfigSecret, aWorkspaceTemplate } from '../test/given.ts'
import { elapsedLines } from './elapsed.ts'
import { command, howToReach, untilInterrupted } from './stay.ts'

const say = elapsedLines()

await command(async () => {
  console.log(
    'A management cluster of real parts (etcd, kube-apiserver, Cluster API core), on this machine, offline.\n',
  )
  const bed = await startBed({ say })
  say('starting a workload cluster')
  const workload = await startWorkload()
  try {
    await judgeTemplates(bed)
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

// What CAPT's own manager does so far.
async function judgeTemplates({ kube }: Bed): Promise<void> {
  const sound = aWorkspaceTemplate({ namespace: 'default', name: 'network', module: 'variable "region" {}\n' })
  const torn = aWorkspaceTemplate({ namespace: 'default', name: 'broken', module: 'variable "region" {\n' })
  say('applying two WorkspaceTemplates, one of which has a module that Terraform would refuse')
  await kube.apply(sound, torn)
  await kube.seeCondition(sound, 'Ready', 'True')
  await kube.seeCondition(torn, 'Ready', 'False')
  say('CAPT has judged them')
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
  const show = (line: string, output: string) => console.log(`\n$ ${line}\n${output.trimEnd()}`)
  const templates = ['get', 'workspacetemplates', '--output=wide']
  show(`kubectl ${templates.join(' ')}`, await bed.kube.kubectl(templates))
  const kinds = 'clusters,bedclusters,bedcontrolplanes'
  show(`kubectl get ${kinds}`, await bed.kube.kubectl(['get', kinds]))
  show('clusterctl describe cluster demo', await bed.clusterctl(['describe', 'cluster', 'demo']))
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
Try there:
  kubectl get cluster demo -o yaml                       # what Cluster API says of it
  kubectl describe workspacetemplate broken              # what CAPT says of a module with a mistake in it
  kubectl edit workspacetemplate broken                  # close the block with } and look again
  kubectl explain captcontrolplane.spec                  # what you will write for CAPT
  clusterctl get kubeconfig demo > demo.kubeconfig       # the way into the workload cluster
  kubectl --kubeconfig demo.kubeconfig get namespaces
  kubectl delete cluster demo                            # and watch it go
Ctrl-C here stops everything and leaves nothing behind.`)
  await untilInterrupted()
}
