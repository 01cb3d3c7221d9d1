import { expect, test } from 'vitest'
import { objectsInMemory } from '../../test/objects.ts'
import { apiVersionOf } from '../api/resource.ts'
import { crossplane, type ForProvider, type ProviderConfig, type Workspace, workspaceAPIs } from '../api/workspace.ts'
import type { Read } from '../runtime/cache.ts'
import { createClaims, stateNameOf } from './claims.ts'
import { type Inputs, ownFiles } from './inputs.ts'

const near = workspaceAPIs['tf.m.upbound.io']
const wide = workspaceAPIs['tf.upbound.io']

const backend = (suffix: string, more = '') =>
  `terraform {\n  backend "kubernetes" {\n    secret_suffix = "${suffix}"\n  }\n}\n${more}`

interface Which {
  readonly namespace?: string // none: for the whole cluster
  readonly externalName?: string
  readonly config?: string
  readonly initArgs?: readonly string[]
  readonly madeAt?: string
  readonly uid?: string
  readonly isServed?: true
}

const apiOf = ({ namespace }: Which) => (namespace === undefined ? wide : near)

const aWorkspace = (which: Which): Workspace => {
  const {
    namespace,
    externalName,
    config = 'default',
    initArgs,
    madeAt = '2026-11-17T08:00:00Z',
    uid = '1',
    isServed,
  } = which
  const forProvider: ForProvider = { source: 'Inline', module: '', ...(initArgs && { initArgs }) }
  return {
    apiVersion: apiVersionOf(apiOf(which).workspace),
    kind: 'Workspace',
    metadata: {
      name: 'network',
      uid,
      creationTimestamp: madeAt,
      ...(namespace !== undefined && { namespace }),
      ...(isServed && { finalizers: [crossplane.finalizer] }),
      ...(externalName !== undefined && { annotations: { [crossplane.externalName]: externalName } }),
    },
    spec: { forProvider, providerConfigRef: { name: config } },
  }
}

const configs: Readonly<Record<string, ProviderConfig['spec']>> = {
  default: { configuration: backend('capt') },
  alike: { configuration: backend('capt', 'provider "aws" {\n  region = "eu-west-1"\n}\n') },
  another: { configuration: backend('another') },
  inFile: { configuration: 'terraform {\n  backend "s3" {}\n}\n', backendFile: 'bucket = "a"' },
  inOtherFile: { configuration: 'terraform {\n  backend "s3" {}\n}\n', backendFile: 'bucket = "b"' },
  ofModules: { configuration: 'provider "aws" {}\n' },
  local: { configuration: 'terraform {\n  backend "local" {}\n}\n' },
}

function objectionTo(mine: Which, other: Which | undefined): string | undefined {
  const { put, get } = objectsInMemory()
  for (const [name, spec] of Object.entries(configs)) {
    for (const resource of [near.clusterProviderConfig, wide.providerConfig]) {
      if (resource) put(resource, { apiVersion: 'v1', kind: resource.kind, metadata: { name }, spec } as ProviderConfig)
    }
  }
  const others = other ? [aWorkspace(other)] : []
  const byIndex: Read['byIndex'] = (resource, _, name) =>
    others.filter((each) => apiVersionOf(resource) === each.apiVersion && stateNameOf(each) === name) as never
  const { configuration = '', backendFile } = configs[mine.config ?? 'default'] ?? {}
  const files = { [ownFiles.configuration]: configuration, ...(backendFile && { [ownFiles.backend]: backendFile }) }
  const inputs: Inputs = {
    files,
    env: {},
    varArgs: [],
    hasBackendFile: false,
    usesPluginCache: true,
    isLogged: false,
    secrets: [],
  }
  return createClaims({ get, byIndex }, [wide, near]).objection(aWorkspace(mine), inputs)
}

const later = '2026-11-17T08:00:01Z'
const mine: Which = { namespace: 'b', madeAt: later, uid: '2' }
const theirs: Which = { namespace: 'a' }

test.each<{ when: string; mine: Which; other: Which | undefined; isRefused: boolean }>([
  { when: 'there is no other', mine, other: undefined, isRefused: false },
  { when: 'another namespace has one of that name', mine, other: theirs, isRefused: true },
  { when: 'the other is younger', mine: theirs, other: mine, isRefused: false },
  {
    when: 'both are of one second, the lesser uid',
    mine: { ...mine, madeAt: later },
    other: { ...theirs, madeAt: later },
    isRefused: true,
  },
  {
    when: 'both are of one second, the greater uid',
    mine: { ...theirs, madeAt: later },
    other: { ...mine, madeAt: later },
    isRefused: false,
  },
  {
    when: 'both are of one second, and the other, of the greater uid, is served',
    mine: { ...theirs, madeAt: later },
    other: { ...mine, isServed: true },
    isRefused: true,
  },
  {
    when: 'the other has an external name of its own',
    mine,
    other: { ...theirs, externalName: 'a.network' },
    isRefused: false,
  },
  {
    when: 'both have the same external name',
    mine: { ...mine, externalName: 'x' },
    other: { ...theirs, externalName: 'x' },
    isRefused: true,
  },
  { when: 'the other is for the whole cluster', mine, other: {}, isRefused: true },
  {
    when: 'it is the same, deleted and made again',
    mine: { ...mine, namespace: 'a' },
    other: theirs,
    isRefused: false,
  },
  {
    when: 'another configuration has the same backend',
    mine: { ...mine, config: 'alike' },
    other: theirs,
    isRefused: true,
  },
  { when: 'the backends differ', mine: { ...mine, config: 'another' }, other: theirs, isRefused: false },
  {
    when: 'the backend files are alike',
    mine: { ...mine, config: 'inFile' },
    other: { ...theirs, config: 'inFile' },
    isRefused: true,
  },
  {
    when: 'the backend files differ',
    mine: { ...mine, config: 'inOtherFile' },
    other: { ...theirs, config: 'inFile' },
    isRefused: false,
  },
  {
    when: 'a Workspace says more of its backend',
    mine: { ...mine, initArgs: ['-backend-config=namespace=b'] },
    other: theirs,
    isRefused: false,
  },
  {
    when: 'a Workspace says something else',
    mine: { ...mine, initArgs: ['-upgrade'] },
    other: theirs,
    isRefused: true,
  },
  {
    when: 'modules bring their backends',
    mine: { ...mine, config: 'ofModules' },
    other: { ...theirs, config: 'ofModules' },
    isRefused: false,
  },
  {
    when: 'states are in work folders',
    mine: { ...mine, config: 'local' },
    other: { ...theirs, config: 'local' },
    isRefused: false,
  },
  { when: 'the configuration of the other is gone', mine, other: { ...theirs, config: 'gone' }, isRefused: false },
])('when $when: refused is $isRefused', ({ mine: one, other, isRefused }) => {
  expect(objectionTo(one, other) !== undefined).toBe(isRefused)
})

test('the objection names the state, whose it is and what to do', () => {
  expect(objectionTo(mine, theirs)).toBe(
    'the state network is already used by Workspace a/network: set another crossplane.io/external-name',
  )
})
