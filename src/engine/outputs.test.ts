import { expect, test } from 'vitest'
import { readOutputs, shownOf } from './outputs.ts'

const printed = `{
  "kubeconfig": { "sensitive": true, "type": "string", "value": "apiVersion: v1" },
  "list": { "sensitive": false, "type": ["list", "string"], "value": ["x", "y"] },
  "big": { "sensitive": false, "type": "number", "value": 12345678901234567890 }
}`

test('outputs are read with their values, and only those that are not sensitive are shown', () => {
  const outputs = readOutputs(printed)
  expect(Object.keys(outputs)).toEqual(['kubeconfig', 'list', 'big'])
  expect(outputs['kubeconfig']).toEqual({ value: 'apiVersion: v1', type: 'string', sensitive: true })
  expect(Object.keys(shownOf(outputs))).toEqual(['list', 'big'])
})

test('a number that JavaScript cannot hold is written on as it came', () => {
  expect(JSON.stringify(shownOf(readOutputs(printed)))).toBe('{"list":["x","y"],"big":12345678901234567890}')
})

test('a module without outputs has none', () => {
  expect(readOutputs('{}\n')).toEqual({})
})
