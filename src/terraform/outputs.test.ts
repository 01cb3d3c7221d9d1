import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { pick, pickConnection } from './outputs.ts'

const outputs = {
  vpc_id: 'vpc-1',
  azs: ['a', 'b'],
  karpenter: { queue_name: 'q', roles: [{ arn: 'r' }], none: null },
  count: 0,
}

describe('an output is found by its path:', () => {
  test.each<[string, unknown]>([
    ['vpc_id', 'vpc-1'],
    ['azs', ['a', 'b']],
    ['azs.1', 'b'],
    ['azs.2', undefined],
    ['azs.length', undefined],
    ['karpenter.queue_name', 'q'],
    ['karpenter.roles.0.arn', 'r'],
    ['karpenter.none', null],
    ['karpenter.none.x', undefined],
    ['karpenter.constructor', undefined],
    ['vpc_id.0', undefined],
    ['count', 0],
    ['absent', undefined],
    ['', undefined],
  ])('%s', (path, value) => {
    expect(pick(outputs, path)).toEqual(value)
  })

  test('in no outputs there is nothing', () => {
    expect(pick(undefined, 'vpc_id')).toBeUndefined()
  })
})

// As engines write it: text as it is, all else as JSON.
function aConnection(values: Readonly<Record<string, unknown>>): Record<string, string> {
  const data = Object.entries(values).map(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    return [name, Buffer.from(text).toString('base64')] as const
  })
  return Object.fromEntries(data)
}

describe('in a connection Secret', () => {
  const secret = aConnection({ ...outputs, text: '3', number: 3, flag: true, broken: '{{ x', pem: 'é\n' })

  test.each<[string, string, unknown]>([
    ['text is text', 'vpc_id', 'vpc-1'],
    ['text of any kind is text', 'pem', 'é\n'],
    ['what looks like a number is text', 'text', '3'],
    ['a number is text too, for nothing tells', 'number', '3'],
    ['so is a boolean', 'flag', 'true'],
    ['a list is a list', 'azs', ['a', 'b']],
    ['an object is an object', 'karpenter', outputs.karpenter],
    ['a path leads into one', 'karpenter.roles.0.arn', 'r'],
    ['what only begins like one is text', 'broken', '{{ x'],
    ['a path into text leads nowhere', 'vpc_id.x', undefined],
    ['what is not there is not', 'absent', undefined],
    ['what every object has is not there', 'constructor', undefined],
  ])('%s', (_, path, value) => {
    expect(pickConnection(secret, path)?.value).toEqual(value)
  })

  test('lists and objects come back as they were', () => {
    const values = fc.oneof(fc.array(fc.jsonValue()), fc.dictionary(fc.string(), fc.jsonValue()))
    fc.assert(
      fc.property(values, (value) => {
        expect(pickConnection(aConnection({ x: value }), 'x')?.value).toEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
  })

  test('what is read as JSON may have been text, and is there as that, too', () => {
    const text = '{ "auths": {} }'
    expect(pickConnection(aConnection({ text }), 'text')).toEqual({ value: { auths: {} }, text })
    expect(pickConnection(aConnection({ text }), 'text.auths')).toEqual({ value: {} })
  })
})
