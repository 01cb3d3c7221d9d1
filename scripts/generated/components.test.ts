import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Provider, providerName, providers } from '../../src/api/provider.ts'
import type { KubeObject } from '../../src/api/resource.ts'
import { settingsOf } from '../../src/runtime/settings.ts'
import { componentsOf } from './components.ts'
import { allInOne, managerRBAC } from './rbac.ts'

interface Deployment extends KubeObject {
  readonly spec: {
    readonly template: { readonly spec: { readonly containers: readonly { name: string; args: string[] }[] } }
  }
}

interface Role extends KubeObject {
  readonly rules: readonly {
    readonly apiGroups: readonly string[]
    readonly resources: readonly string[]
    readonly verbs: readonly string[]
    readonly resourceNames?: readonly string[]
  }[]
}

interface Definition extends KubeObject {
  readonly spec: { readonly group: string; readonly names: { readonly kind: string; readonly plural: string } }
}

interface Policy extends KubeObject {
  readonly spec: {
    readonly paramKind?: { readonly apiVersion: string; readonly kind: string }
    readonly matchConstraints: {
      readonly resourceRules: readonly { readonly apiGroups: string[]; readonly resources: string[] }[]
    }
  }
}

interface Shapes {
  readonly Deployment: Deployment
  readonly ClusterRole: Role
  readonly Role: Role
  readonly CustomResourceDefinition: Definition
  readonly ValidatingAdmissionPolicy: Policy
}

const folder = resolve(import.meta.dirname, '../../manifests/clusterctl')

function ofKind<K extends keyof Shapes>(kind: K, objects: readonly KubeObject[]): readonly Shapes[K][] {
  return objects.filter((object): object is Shapes[K] => object.kind === kind)
}

describe.each(providers)('what clusterctl installs of the %s provider', (provider) => {
  const objects = componentsOf(provider)

  test('has its label', () => {
    const labels = objects.map(({ metadata }) => metadata.labels?.['cluster.x-k8s.io/provider'])
    expect(new Set(labels)).toEqual(new Set([providerName(provider)]))
  })

  test('stays out of the way of others called CAPT', () => {
    const ofCluster = objects.filter(({ metadata }) => metadata.namespace === undefined)
    const names = ofCluster
      .filter(({ kind }) => kind !== 'CustomResourceDefinition')
      .map(({ metadata }) => metadata.name)
    expect(names.filter((name) => !name.startsWith('appthrust-capt-'))).toEqual([])
  })

  test('holds no variable of clusterctl but those that are offered, each with a value of its own', () => {
    const file = readFileSync(join(folder, `${provider}-components.yaml`), 'utf8')
    const offered = ['${CAPT_WORKSPACE_API:=tf.m.upbound.io}', '${CAPT_VERBOSITY:=0}']
    expect(file.match(/\$[${][^\n]*/g)).toEqual(offered)
  })

  test('starts one manager, with flags that it knows, for this provider alone', () => {
    const deployments = ofKind('Deployment', objects)
    const containers = deployments.flatMap(({ spec }) => spec.template.spec.containers)
    expect(containers.map(({ name }) => name)).toEqual(['manager'])
    const args = containers.flatMap((each) => each.args).map((arg) => arg.replace(/\$\{\w+:=(.*)\}/, '$1'))
    const { settings, warnings } = settingsOf(args)
    expect(settings).toMatchObject({ enabled: [provider], isElected: true, workspaceAPI: 'tf.m.upbound.io' })
    expect(warnings).toEqual([])
  })

  test('has policies only about kinds that come with it, and about those that its own belong to or make', () => {
    const kinds = ofKind('CustomResourceDefinition', objects).map(({ spec }) => spec)
    const policies = ofKind('ValidatingAdmissionPolicy', objects).map(({ spec }) => spec)
    const rules = policies.flatMap(({ matchConstraints }) => matchConstraints.resourceRules)
    const guarded = rules.map(({ apiGroups, resources }) => `${resources.join()}.${apiGroups.join()}`)
    const compared = policies.flatMap(({ paramKind }) => paramKind ?? [])
    const others = ['clusters.cluster.x-k8s.io', 'workspacetemplateapplies.infrastructure.cluster.x-k8s.io']
    expect([...kinds.map(({ group, names }) => `${names.plural}.${group}`), ...others]).toEqual(
      expect.arrayContaining(guarded),
    )
    expect(kinds.map(({ group, names }) => ({ apiVersion: `${group}/v1beta1`, kind: names.kind }))).toEqual(
      expect.arrayContaining(compared),
    )
  })
})

test('nothing but the Namespace is in both files', () => {
  const names = (provider: Provider) => componentsOf(provider).map(({ kind, metadata }) => `${kind} ${metadata.name}`)
  const others = new Set(names('control-plane'))
  expect(names('infrastructure').filter((name) => others.has(name))).toEqual(['Namespace appthrust-capt-system'])
})

test('the two managers together may do what one for all may, and nothing else', () => {
  const apart = providers
    .flatMap(componentsOf)
    .filter(({ metadata }) => metadata.name !== 'appthrust-capt-metrics-reader')
  expect(grantsOf(apart)).toEqual(grantsOf(managerRBAC(allInOne)))
})

function grantsOf(objects: readonly KubeObject[]): ReadonlySet<string> {
  const roles = [...ofKind('ClusterRole', objects), ...ofKind('Role', objects)]
  return new Set(
    roles
      .flatMap(({ rules }) => rules)
      .flatMap(({ apiGroups, resources, verbs, resourceNames = [''] }) =>
        verbs.flatMap((verb) => resourceNames.map((name) => `${verb} ${apiGroups.join()}/${resources.join()} ${name}`)),
      ),
  )
}
