// make quickstart: a management cluster of real parts on this machine, and on it a cluster that goes to Available while one
// watches; then one thing that goes wrong, explained. On a terminal it stays up until Ctrl-C; elsewhere it stops then.
import { relative, resolve } from 'node:path'
import { outputOf } from '../src/cli/output.ts'
import { showTree, watchTree } from '../src/cli/tree.ts'
import { createClient } from '../src/kube/client.ts'
import { findAccess } from '../src/kube/find.ts'
import { systemClock } from '../src/runtime/clock.ts'
import { type Bed, startBed } from '../test/bed/bed.ts'
import { conditionsOf } from '../test/bed/describe.ts'
import type { KubeObject } from '../test/bed/kube.ts'
import { startWorkload } from '../test/bed/workload.ts'
import { aCaptCluster, leadingTo, offlineSecret } from '../test/clusters.ts'
import { elapsedLines } from './elapsed.ts'
import { command, howToReach, untilInterrupted } from './stay.ts'

const say = elapsedLines()
const root = resolve(import.meta.dirname, '..')
const [namespace, name] = ['default', 'minimal']
const { controlPlane } = aCaptCluster({ namespace, name })
const patience = { withinSeconds: 180 }

await command(async () => {
  console.log(
    'A management cluster of real parts (etcd, kube-apiserver, Cluster API core, OpenTofu), on this machine, offline.\n',
  )
  const starting = startWorkload()
  const bed = await startBed({ say })
  say('starting a further kube-apiserver, which takes the place of the one in EKS')
  const workload = await starting
  try {
    await bed.kube.apply(offlineSecret(namespace, leadingTo(workload)))
    await apply(bed, 'examples/offline/templates.yaml')
    await apply(bed, 'examples/clusters/minimal.yaml')
    await watchItComeUp(bed)
    await letItFail(bed)
    await tellWhatToTry(bed)
  } catch (error) {
    throw new Error(`${(error as Error).message}\nlogs of every part: ${await bed.keepLogs()}`, { cause: error })
  } finally {
    await Promise.all([workload.stop(), bed.stop()])
  }
  console.log('\nstopped; nothing is left behind')
})

async function apply({ kube }: Bed, file: string): Promise<void> {
  say(`kubectl apply -f ${relative(root, resolve(root, file))}`)
  await kube.kubectl(['apply', '--namespace', namespace, '-f', resolve(root, file)])
}

function looking({ kubeconfig }: Bed) {
  const access = findAccess({ kubeconfig, env: {} })
  return {
    client: createClient(access, { userAgent: 'capt' }),
    server: access.server.origin,
    namespace,
    name,
    clock: systemClock,
    now: () => new Date(),
    out: outputOf(process.stdout, process.env, true),
  }
}

async function watchItComeUp(bed: Bed): Promise<void> {
  console.log(`\n$ capt tree ${name} --watch`)
  const view = looking(bed)
  const interrupted = new AbortController()
  process.once('SIGINT', () => interrupted.abort())
  const ending = await watchTree({ ...view, until: 'available', signal: interrupted.signal })
  view.client.close()
  if (ending !== 'available') throw new Error('interrupted')
  console.log('')
  say('the Cluster is Available: Cluster API reaches its API server')
  await show(bed, 'kubectl', ['get', 'captcluster,captcontrolplane,workspacetemplateapply'])
  await show(bed, 'clusterctl', ['describe', 'cluster', name])
}

// What a night looks like on which an apply fails.
async function letItFail(bed: Bed): Promise<void> {
  const { kube } = bed
  console.log('')
  say('now something goes wrong: the template refuses a tag')
  const tag = (value: string | null) => ({ spec: { additionalTags: { 'no-eks': value } } })
  await kube.patch(controlPlane, tag('x'))
  await kube.see(controlPlane, 'tells what failed', reads('EKSApplied', 'TerraformFailed'), patience)
  console.log(`\n$ capt tree ${name}`)
  const view = looking(bed)
  await showTree(view)
  view.client.close()
  await kube.patch(controlPlane, tag(null))
  await kube.see(controlPlane, 'is mended', reads('EKSApplied', 'Converged'), patience)
  console.log('')
  say('the tag is gone again, and all is well')
}

function reads(type: string, reason: string) {
  return (object: KubeObject) => conditionsOf(object).some((each) => each.type === type && each.reason === reason)
}

async function show(bed: Bed, program: 'kubectl' | 'clusterctl', args: readonly string[]): Promise<void> {
  const output = program === 'kubectl' ? await bed.kube.kubectl(args) : await bed.clusterctl(args)
  console.log(`\n$ ${program} ${args.join(' ')}\n${output.trimEnd()}`)
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
  capt tree ${name} --watch                              # leave it open beside what follows
  clusterctl describe cluster ${name} --show-conditions all
  kubectl --kubeconfig <(clusterctl get kubeconfig ${name}) get namespaces     # into the cluster
  kubectl patch captcontrolplane ${name} --type=merge -p '{"spec":{"version":"v1.36.0"}}'                  # an upgrade, step by step
  kubectl patch captcluster ${name} --type=merge -p '{"spec":{"additionalTags":{"no-vpc":"x"}}}'            # a failure: capt tree explains it
  kubectl patch captcluster ${name} --type=merge -p '{"spec":{"additionalTags":null}}'                      # mended
  kubectl apply -f examples/clusters/existing-vpc.yaml    # another cluster; examples/terraform has applies by themselves
  kubectl delete cluster ${name}                         # EKS goes, then the VPC
Ctrl-C here stops everything and leaves nothing behind.`)
  await untilInterrupted()
}
