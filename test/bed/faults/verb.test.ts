import { expect, test } from 'vitest'
import { type Verb, verbOf } from './verb.ts'

test.each<[Verb, string, string]>([
  ['list', 'GET', '/api/v1/namespaces'],
  ['get', 'GET', '/api/v1/namespaces/demo'],
  ['list', 'GET', '/api/v1/namespaces/demo/configmaps'],
  ['watch', 'GET', '/api/v1/namespaces/demo/configmaps?watch=true&resourceVersion=7'],
  ['watch', 'GET', '/apis/cluster.x-k8s.io/v1beta2/clusters?watch=1'],
  ['list', 'GET', '/apis/cluster.x-k8s.io/v1beta2/clusters?watch=false'],
  ['get', 'GET', '/apis/cluster.x-k8s.io/v1beta2/namespaces/demo/clusters/one'],
  ['get', 'GET', '/apis/cluster.x-k8s.io/v1beta2/namespaces/demo/clusters/one/status'],
  ['get', 'GET', '/apis/cluster.x-k8s.io/v1beta2'],
  ['get', 'GET', '/readyz'],
  ['create', 'POST', '/api/v1/namespaces/demo/secrets'],
  ['update', 'PUT', '/api/v1/namespaces/demo/secrets/one'],
  ['patch', 'PATCH', '/apis/cluster.x-k8s.io/v1beta2/namespaces/demo/clusters/one/status?fieldManager=capt'],
  ['delete', 'DELETE', '/api/v1/namespaces/demo'],
  ['deletecollection', 'DELETE', '/api/v1/namespaces/demo/secrets?labelSelector=a%3Db'],
])('it is %s: %s %s', (verb, method, url) => {
  expect(verbOf(method, url)).toBe(verb)
})
