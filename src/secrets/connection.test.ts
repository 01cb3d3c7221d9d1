import { describe, expect, test } from 'vitest'
import { aCA, anotherCA, base64 } from '../../test/pki.ts'
import { readConnection } from './connection.ts'

const ca = 'cluster_certificate_authority_data'
const outputs = { cluster_endpoint: 'https://api.example', [ca]: base64(aCA), cluster_name: 'demo' }
const secret = Object.fromEntries(Object.entries(outputs).map(([name, value]) => [name, base64(value)]))
const whole = { endpoint: { host: 'api.example', port: 443 }, ca: aCA, clusterName: 'demo', complaints: [] }

describe('a connection is whole', () => {
  test.each<[string, object | undefined, Readonly<Record<string, string>>]>([
    ['when all is in the outputs', outputs, {}],
    ['when all is in the Secret', {}, secret],
    ['when there are no outputs at all', undefined, secret],
    ['when some is here and some is there', { cluster_endpoint: outputs.cluster_endpoint }, secret],
    ['when an output is empty', { ...outputs, cluster_endpoint: '' }, secret],
    ['when an output is no text', { ...outputs, cluster_endpoint: 443 }, secret],
    ['when the CA is PEM', { ...outputs, [ca]: aCA }, {}],
    ['when the CA in the Secret is PEM', {}, { ...secret, [ca]: base64(aCA) }],
    ['when there is much else', { ...outputs, pod_execution_role_arn: 42 }, { other: base64('x') }],
  ])('%s', (_, given, data) => {
    expect(readConnection(given, data)).toMatchObject(whole)
  })
})

test('what is in both, the outputs say', () => {
  const other = {
    cluster_endpoint: base64('https://other.example'),
    [ca]: base64(anotherCA),
    cluster_name: base64('x'),
  }
  expect(readConnection(outputs, other)).toMatchObject(whole)
})

test('several CAs are taken together', () => {
  expect(readConnection({ ...outputs, [ca]: base64(aCA + anotherCA) }).ca).toBe(aCA + anotherCA)
})

const noEndpoint = 'there is no output cluster_endpoint: add an address such as https://host:443'
const badEndpoint = 'output cluster_endpoint is not an address such as https://host:443'
const noCA = `there is no output ${ca}: add the cluster's CA as PEM, or that in base64`
const badCA = `output ${ca} is not the cluster's CA as PEM, or that in base64`

describe('what lacks is named', () => {
  test.each<[string, object, Readonly<Record<string, string>>, readonly string[]]>([
    ['everything', {}, {}, [noEndpoint, noCA]],
    ['an output of nothing', { ...outputs, cluster_endpoint: null }, {}, [noEndpoint]],
    ['an empty one', { ...outputs, cluster_endpoint: '' }, { cluster_endpoint: '' }, [noEndpoint]],
    ['a wrong address', { ...outputs, cluster_endpoint: 'http://api.example' }, secret, [badEndpoint]],
    ['a number in the Secret', {}, { ...secret, cluster_endpoint: base64('443') }, [badEndpoint]],
    ['no CA', { ...outputs, [ca]: undefined }, {}, [noCA]],
    ['a wrong CA', { ...outputs, [ca]: 'soon' }, {}, [badCA]],
    ['a CA of another type', { ...outputs, [ca]: [{ data: base64(aCA) }] }, {}, [noCA]],
    ['a CA that is in base64 once too often', {}, { ...secret, [ca]: base64(base64(base64(aCA))) }, [badCA]],
    [
      'an address that is in base64 once too often',
      {},
      { ...secret, cluster_endpoint: base64(base64('https://x/')) },
      [badEndpoint],
    ],
  ])('%s', (_, given, data, complaints) => {
    expect(readConnection(given, data).complaints).toEqual(complaints)
  })
})

test('a kubeconfig is kept sealed', () => {
  const read = readConnection({}, { kubeconfig: base64('token: s3cr3t') })
  expect(read.kubeconfig === 'exposed' ? '' : read.kubeconfig?.open()).toBe('token: s3cr3t')
  expect(JSON.stringify(read)).not.toContain('s3cr3t')
})

// Outputs are in the status of objects that people may read who may not read Secrets.
test('a kubeconfig that is no secret is not taken, though the Secret has it, too', () => {
  const read = readConnection({ ...outputs, kubeconfig: 'token: s3cr3t' }, { kubeconfig: base64('token: s3cr3t') })
  expect(read).toMatchObject({ ...whole, kubeconfig: 'exposed' })
  expect(JSON.stringify(read)).not.toContain('s3cr3t')
})

test('names that every object has are no outputs', () => {
  expect(readConnection({}, {}).clusterName).toBeUndefined()
  expect(readConnection(Object.create({ cluster_name: 'inherited' })).clusterName).toBeUndefined()
})
