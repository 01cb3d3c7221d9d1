import { expect, test } from 'vitest'
import type { ForProvider, ProviderConfig } from '../api/workspace.ts'
import { stateHomeOf } from './statehome.ts'

const aConfig = (spec: ProviderConfig['spec']): ProviderConfig => ({
  apiVersion: 'tf.m.upbound.io/v1beta1',
  kind: 'ClusterProviderConfig',
  metadata: { name: 'default' },
  spec,
})
const inline: ForProvider = { source: 'Inline', module: 'output "id" { value = 1 }\n' }
const remote: ForProvider = { source: 'Remote', module: 'git::https://example.com/it' }
const backend = (kind: string, settings = '') => `terraform {\n  backend "${kind}" {\n${settings}\n  }\n}\n`
const s3 = backend('s3', 'bucket = "states"\nkey = "capt"\nsecret_key = "s3cr3t"\nregion = "eu-north-1"')

test.each<[string, ProviderConfig['spec'], ForProvider, string]>([
  ['a bucket', { configuration: s3 }, inline, 's3 (bucket states, key capt)'],
  [
    'a bucket, beside other things',
    { configuration: `provider "aws" {\n}\n${s3}` },
    remote,
    's3 (bucket states, key capt)',
  ],
  [
    'what a file adds',
    { configuration: backend('s3', 'key = "capt"'), backendFile: 'bucket = "filed"\n' },
    inline,
    's3 (bucket filed, key capt)',
  ],
  [
    'what the command line adds',
    { configuration: backend('s3'), backendFile: 'bucket = "filed"' },
    { ...inline, initArgs: ['-upgrade', '-backend-config=bucket=said', '-backend-config=other.tfbackend'] },
    's3 (bucket said)',
  ],
  [
    'another cloud',
    { configuration: backend('gcs', 'prefix = "x"\nbucket = "b"') },
    inline,
    'gcs (bucket b, prefix x)',
  ],
  [
    'a database, whose address is a secret',
    { configuration: backend('pg', 'conn_str = "postgres://u:p@h"') },
    inline,
    'pg',
  ],
  [
    'HCP Terraform',
    { configuration: 'terraform {\n  cloud {\n    organization = "us"\n  }\n}\n' },
    inline,
    'cloud (organization us)',
  ],
  ['the module itself', {}, { ...inline, module: s3 }, 's3 (bucket states, key capt)'],
  [
    'the module itself, in JSON',
    {},
    { ...inline, inlineFormat: 'JSON', module: '{"terraform":{"backend":{"gcs":{"bucket":"b"}}}}' },
    'gcs (bucket b)',
  ],
])('a state is told to be elsewhere by %s', (_, spec, module, place) => {
  expect(stateHomeOf(aConfig(spec), module)).toEqual({ is: 'elsewhere', place })
})

test.each<[string, ProviderConfig['spec'], ForProvider, string]>([
  [
    'in a cluster',
    { configuration: backend('kubernetes', 'in_cluster_config = true') },
    inline,
    'in a Secret of a cluster',
  ],
  ['in a cluster, by the module', {}, { ...inline, module: backend('kubernetes') }, 'in a Secret of a cluster'],
  ['in a folder', { configuration: backend('local') }, inline, 'in the pod that runs Terraform (backend "local")'],
  ['nowhere in particular', {}, inline, 'for ClusterProviderConfig default names no backend'],
  ['nowhere that is known', {}, remote, 'may be anywhere'],
  ['in what cannot be read', { configuration: 'terraform { backend' }, inline, 'names no backend'],
])('a state stays where it is when it is kept %s', (_, spec, module, why) => {
  expect(stateHomeOf(aConfig(spec), module)).toEqual({ is: 'bound', why: expect.stringContaining(why) as string })
})
