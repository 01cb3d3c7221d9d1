// clusterctl installs Cluster API core and our two providers' kinds from a local repository into a bare bed, side by side with the
// shared one. What it installs stays inert here (Deployments need kubelets); what it checks is checked for real.
import { mkdirSync, writeFileSync } from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { stringify } from 'yaml'
import { crdOf } from '../../scripts/generated/crd.ts'
import { groups, type Kind } from '../../src/api/kind.ts'
import { kinds } from '../../src/api/kinds.ts'
import { pinnedVersion } from '../../tools/cache.ts'
import { parts } from '../../tools/parts.ts'
import { realParts, workshop } from '../../tools/workshop.ts'
import { startBed } from '../bed/bed.ts'
import { theBed } from '../bed/story.ts'

const coreVersion = pinnedVersion(parts['cluster-api-core'], workshop().modules)

test('clusterctl init installs core and providers from a local repository', async () => {
  const bed = await startBed({ core: false })
  onTestFinished(async () => bed.stop())
  expect(bed.server).not.toBe(theBed().server)
  const manifests = await realParts(['cluster-api-core.yaml', 'cert-manager-crds.yaml'])
  await bed.kube.kubectl(['apply', '--server-side', '-f', manifests['cert-manager-crds.yaml']])

  const repository = aRepository(bed.folder)
  await copyFile(manifests['cluster-api-core.yaml'], repository.add('CoreProvider', 'cluster-api', coreVersion))
  const ofControlPlane = (kind: Kind) => kind.group === groups.controlPlane
  const ours = {
    infrastructure: kinds.filter((kind) => !ofControlPlane(kind)),
    controlPlane: kinds.filter(ofControlPlane),
  }
  const capt = 'v0.4.0'
  writeFileSync(
    repository.add('InfrastructureProvider', 'capt', capt),
    componentsOf('appthrust-capt-system', ours.infrastructure.map(crdOf)),
  )
  writeFileSync(
    repository.add('ControlPlaneProvider', 'capt', capt),
    componentsOf('appthrust-capt-control-plane-system', ours.controlPlane.map(crdOf)),
  )
  const config = repository.config()

  const wanted = [
    '--core',
    `cluster-api:${coreVersion}`,
    '--bootstrap',
    '-',
    '--control-plane',
    `capt:${capt}`,
    '--infrastructure',
    `capt:${capt}`,
  ]
  await bed.clusterctl(['init', '--config', config, ...wanted])

  const providers = await bed.kube.list('clusterctl.cluster.x-k8s.io/v1alpha3', 'Provider')
  expect(
    providers.map(({ metadata, version }) => `${metadata.namespace}/${metadata.name} ${String(version)}`).toSorted(),
  ).toEqual([
    'appthrust-capt-control-plane-system/control-plane-capt v0.4.0',
    'appthrust-capt-system/infrastructure-capt v0.4.0',
    `capi-system/cluster-api ${coreVersion}`,
  ])
  const crds = await bed.kube.list('apiextensions.k8s.io/v1', 'CustomResourceDefinition')
  expect(crds.map(({ metadata: { name } }) => name)).toEqual(
    expect.arrayContaining(['clusters.cluster.x-k8s.io', ...kinds.map((kind) => crdOf(kind).metadata.name)]),
  )
})

type ProviderType = 'CoreProvider' | 'InfrastructureProvider' | 'ControlPlaneProvider'
const labels = { CoreProvider: '', InfrastructureProvider: 'infrastructure-', ControlPlaneProvider: 'control-plane-' }
const files = { CoreProvider: 'core', InfrastructureProvider: 'infrastructure', ControlPlaneProvider: 'control-plane' }

// {folder}/{provider label}/{version}/{components and metadata}, as clusterctl wants it.
function aRepository(folder: string) {
  const providers: object[] = []
  return {
    // Makes room for a provider and returns where its components go.
    add(type: ProviderType, name: string, version: string): string {
      const home = join(folder, 'repository', `${labels[type]}${name}`, version)
      mkdirSync(home, { recursive: true })
      const [major, minor] = version.slice(1).split('.').map(Number)
      writeFileSync(
        join(home, 'metadata.yaml'),
        stringify({
          apiVersion: 'clusterctl.cluster.x-k8s.io/v1alpha3',
          kind: 'Metadata',
          releaseSeries: [{ major, minor, contract: 'v1beta2' }],
        }),
      )
      const components = join(home, `${files[type]}-components.yaml`)
      providers.push({ name, type, url: components })
      return components
    },
    config(): string {
      const file = join(folder, 'clusterctl.yaml')
      writeFileSync(file, stringify({ providers, 'cert-manager': { externallyProvisioned: true } }))
      return file
    },
  }
}

function componentsOf(namespace: string, objects: readonly object[]): string {
  const home = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }
  return [home, ...objects].map((object) => JSON.stringify(object)).join('\n---\n')
}
