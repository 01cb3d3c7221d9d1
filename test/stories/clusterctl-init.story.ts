// clusterctl installs Cluster API core and our two providers, from the files that are shipped, into a bare bed side by side with
// the shared one. Deployments stay as written there, for nobody runs Pods: what they would run is started by hand, under the
// accounts, the roles and the flags that were installed.
import { mkdirSync, writeFileSync } from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, onTestFailed, onTestFinished, test } from 'vitest'
import { parseAllDocuments, stringify } from 'yaml'
import about from '../../package.json' with { type: 'json' }
import { componentsOf } from '../../scripts/generated/components.ts'
import { namespace } from '../../scripts/generated/rbac.ts'
import { CAPTCluster } from '../../src/api/captcluster.ts'
import { CAPTControlPlane } from '../../src/api/captcontrolplane.ts'
import type { Kind } from '../../src/api/kind.ts'
import { type Provider, providerName, providers } from '../../src/api/provider.ts'
import type { KubeObject as ApiObject } from '../../src/api/resource.ts'
import { leases } from '../../src/runtime/leadership.ts'
import { pinnedVersion } from '../../tools/cache.ts'
import { parts } from '../../tools/parts.ts'
import { realParts, workshop } from '../../tools/workshop.ts'
import { type StartedBed, startBed } from '../bed/bed.ts'
import { seeEstablished } from '../bed/core.ts'
import type { KubeObject } from '../bed/kube.ts'
import { accountKubeconfig, launchManager, seeReady } from '../bed/manager.ts'
import { aWorkload } from '../bed/story.ts'
import { aCaptCluster, leadingTo, offlineSecret, offlineTemplates } from '../clusters.ts'
import { aWorkspaceTemplate } from '../given.ts'
import { patience } from '../lives.ts'
import { aSpecimen, changed } from '../specimens.ts'

interface Deployment extends KubeObject {
  readonly spec: {
    readonly replicas: number
    readonly template: { readonly spec: { readonly serviceAccountName: string; readonly containers: [Container] } }
  }
}

interface Container {
  readonly args: readonly string[]
  readonly env: readonly { readonly name: string; readonly value: string }[]
}

const coreVersion = pinnedVersion(parts['cluster-api-core'], workshop().modules)
const version = `v${about.version}`
const nextVersion = version.replace(/\d+$/, '999') // the same files: what is new in them does not matter here

const manifests = resolve(import.meta.dirname, '../../manifests')
const workload = aWorkload()
let bed: StartedBed
let config: string

beforeAll(async () => {
  const files = await realParts(['cluster-api-core.yaml', 'cert-manager-crds.yaml'])
  bed = await startBed({ core: false })
  await bed.kube.kubectl(['apply', '--server-side', '-f', files['cert-manager-crds.yaml']])
  config = await aConfiguration(bed.folder, files['cluster-api-core.yaml'])
  const core = ['--core', `cluster-api:${coreVersion}`, '--bootstrap', '-']
  const ours = ['--control-plane', `capt:${version}`, '--infrastructure', `capt:${version}`]
  await bed.clusterctl(['init', '--config', config, ...core, ...ours])
})

afterAll(async () => bed.stop())

test('clusterctl knows both providers, in one namespace, and their kinds are served', async () => {
  const known = await bed.kube.list('clusterctl.cluster.x-k8s.io/v1alpha3', 'Provider')
  expect(
    known.map(({ metadata, version: which }) => `${metadata.namespace}/${metadata.name} ${String(which)}`).toSorted(),
  ).toEqual([
    `${namespace}/control-plane-capt ${version}`,
    `${namespace}/infrastructure-capt ${version}`,
    `capi-system/cluster-api ${coreVersion}`,
  ])
  await seeEstablished(bed.kube)
})

test.each(providers)('clusterctl takes what the %s provider ships as it is written', async (provider) => {
  const told = await bed.clusterctl(['generate', 'provider', '--config', config, `--${provider}`, `capt:${version}`])
  const taken = parseAllDocuments(told).map((document) => document.toJS() as ApiObject)
  expect(meaningOf(taken)).toEqual(meaningOf(componentsOf(provider)))
})

test.each<[Kind]>([[CAPTCluster], [CAPTControlPlane]])('a protected $kind is not deleted', async (kind) => {
  const object = aSpecimen(kind, 'default', changed(kind, 'deletionProtection', true))
  await bed.kube.apply(object)
  expect(await bed.kube.seeKept(object)).toContain('has deletionProtection') // it takes a moment to take up a policy
})

test('the managers bring a cluster up and down under the accounts, the roles and the flags that were installed', async () => {
  onTestFailed(async () => console.error(`the managers' logs: ${await bed.keepLogs()}`))
  const managers = await Promise.all(providers.map(launchInstalled))
  onTestFinished(async () => void (await Promise.all(managers.map(async ({ member }) => member.kill()))))
  await Promise.all(managers.map(seeReady))
  for (const provider of providers) {
    const lease = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: leases[provider], namespace },
    }
    await bed.kube.see(lease, 'is held', ({ spec }) => Boolean((spec as { holderIdentity?: string }).holderIdentity))
  }
  const template = aWorkspaceTemplate({ namespace: 'default', module: 'output "region" {\n  value = "tokyo"\n}\n' })
  await bed.kube.apply(template)
  await bed.kube.seeCondition(template, 'Ready', 'True')

  await Promise.all([startCoreHere(), startEngineHere()])
  const { cluster, controlPlane, all } = aCaptCluster({ namespace: 'default' })
  await bed.kube.apply(offlineSecret('default', leadingTo(workload())), ...offlineTemplates('default'), ...all)
  await bed.kube.seeCondition(cluster, 'Available', 'True', patience)
  await bed.kube.seeCondition(controlPlane, 'Ready', 'True', patience)
  await bed.kube.remove(cluster)
  await bed.kube.seeGone(cluster, patience)

  for (const { provider, member } of managers) {
    const asked = async () => bed.audit({ user: `system:serviceaccount:${namespace}:${member.name}` })
    // Each looks whether objects of its own kinds are to be rewritten.
    const definitions = componentsOf(provider).filter(({ kind }) => kind === 'CustomResourceDefinition')
    const lookedAt = async () =>
      (await asked()).filter(({ verb, group }) => verb === 'get' && group === 'apiextensions.k8s.io')
    await expect
      .poll(async () => (await lookedAt()).map(({ name }) => name), { timeout: 20_000 })
      .toEqual(definitions.map(({ metadata }) => metadata.name))
    const refused = (await asked()).filter(({ code, isForbidden }) => code === 401 || isForbidden)
    expect(refused.map(({ verb, path }) => `${verb} ${path}`)).toEqual([])
  }
}, 300_000)

test('an upgrade and the end of one provider leave the other as it is', async () => {
  const before = { infrastructure: await uidsOf('infrastructure'), controlPlane: await uidsOf('control-plane') }

  await bed.clusterctl(['upgrade', 'apply', '--config', config, '--infrastructure', `capt:${nextVersion}`])
  const upgraded = await uidsOf('infrastructure')
  expect([...upgraded.keys()]).toEqual([...before.infrastructure.keys()])
  expect((await deploymentOf('infrastructure')).spec.replicas).toBe(1)
  const stayed = [...upgraded].filter(([name, uid]) => before.infrastructure.get(name) === uid).map(([name]) => name)

  await bed.clusterctl(['delete', '--config', config, '--infrastructure', 'capt'])
  const left = [...(await uidsOf('infrastructure')).keys()]
  expect(left).toEqual(stayed)
  expect(left.filter((name) => !name.startsWith('CustomResourceDefinition '))).toEqual([
    `Namespace ${namespace}`,
    'ClusterRole appthrust-capt-metrics-reader',
  ])
  expect(await uidsOf('control-plane')).toEqual(before.controlPlane)
})

// All but what clusterctl is meant to change: labels, variables in the Deployment. It knows no cluster-scoped policies and gives
// them a namespace, which the API server ignores; and it forgets that an object has no properties, which says nothing.
function meaningOf(objects: readonly ApiObject[]): Readonly<Record<string, unknown>> {
  const meanings = objects
    .filter(({ kind }) => kind !== 'Deployment')
    .map(({ metadata, ...rest }) => [`${rest.kind} ${metadata.name}`, { ...rest, status: undefined }])
  const isNothing = (key: string, value: unknown) => key === 'properties' && Object.keys(value as object).length === 0
  const text = JSON.stringify(Object.fromEntries(meanings))
  return JSON.parse(text, (key, value: unknown) => (isNothing(key, value) ? undefined : value)) as Record<
    string,
    unknown
  >
}

async function deploymentOf(provider: Provider): Promise<Deployment> {
  const label = providerName(provider)
  const all = (await bed.kube.list('apps/v1', 'Deployment', namespace)) as readonly Deployment[]
  const found = all.find(({ metadata }) => metadata.labels?.['cluster.x-k8s.io/provider'] === label)
  if (!found) throw new Error(`there is no Deployment of ${label}`)
  return found
}

// What clusterctl installed has core called by a Service, which nobody is behind: that is replaced, to have it called where it runs.
async function startCoreHere(): Promise<void> {
  await bed.startCore(async (...objects) => {
    await bed.kube.kubectl(['replace', '-f', '-'], objects.map((each) => JSON.stringify(each)).join('\n---\n'))
  })
}

async function startEngineHere(): Promise<void> {
  await bed.kube.kubectl(['apply', '--server-side', '-f', resolve(manifests, 'engine/crds.yaml')])
  await bed.startEngine()
}

async function launchInstalled(provider: Provider) {
  const { serviceAccountName, containers } = (await deploymentOf(provider)).spec.template.spec
  const [{ args, env }] = containers
  expect(args).toContain('--v=4') // of the configuration
  const launched = await launchManager(bed, {
    name: serviceAccountName,
    kubeconfig: await accountKubeconfig(bed, bed, serviceAccountName),
    flags: args,
    env: Object.fromEntries(env.map(({ name, value }) => [name, value])),
  })
  return { provider, ...launched }
}

// Of every object of a provider that is there.
async function uidsOf(provider: Provider): Promise<ReadonlyMap<string, string>> {
  const found = await Promise.all(componentsOf(provider).map(async (object) => bed.kube.read(object)))
  const there = found.filter((object) => object !== undefined)
  return new Map(there.map(({ kind, metadata }) => [`${kind} ${metadata.name}`, metadata.uid ?? '']))
}

// A local repository, as clusterctl wants it: {folder}/{provider}/{version}/{components and metadata}. And what names it.
async function aConfiguration(folder: string, core: string): Promise<string> {
  const homeOf = (provider: string, which: string) => join(folder, 'repository', provider, which)
  const coreHome = homeOf('cluster-api', coreVersion)
  mkdirSync(coreHome, { recursive: true })
  await copyFile(core, join(coreHome, 'core-components.yaml'))
  writeFileSync(join(coreHome, 'metadata.yaml'), coreMetadata())
  for (const provider of providers) {
    for (const which of [version, nextVersion]) {
      const home = homeOf(providerName(provider), which)
      mkdirSync(home, { recursive: true })
      for (const file of ['metadata.yaml', `${provider}-components.yaml`]) {
        await copyFile(join(manifests, 'clusterctl', file), join(home, file))
      }
    }
  }
  const ours = (provider: Provider) => join(homeOf(providerName(provider), version), `${provider}-components.yaml`)
  const file = join(folder, 'clusterctl.yaml')
  const configuration = {
    providers: [
      { name: 'cluster-api', type: 'CoreProvider', url: join(coreHome, 'core-components.yaml') },
      { name: 'capt', type: 'InfrastructureProvider', url: ours('infrastructure') },
      { name: 'capt', type: 'ControlPlaneProvider', url: ours('control-plane') },
    ],
    'cert-manager': { externallyProvisioned: true },
    CAPT_VERBOSITY: '4',
  }
  writeFileSync(file, stringify(configuration))
  return file
}

function coreMetadata(): string {
  const [major, minor] = coreVersion.slice(1).split('.').map(Number)
  return stringify({
    apiVersion: 'clusterctl.cluster.x-k8s.io/v1alpha3',
    kind: 'Metadata',
    releaseSeries: [{ major, minor, contract: 'v1beta2' }],
  })
}
