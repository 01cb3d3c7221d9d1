import { PassThrough, Writable } from 'node:stream'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { seal } from '../api/sealed.ts'
import { ApiError } from '../kube/errors.ts'
import { createLog, type Level, levelOf, tellError } from './log.ts'

function aLog(level: Level = 'info') {
  const to = new PassThrough()
  const log = createLog({ to, level, now: () => new Date('2026-01-02T03:04:05.678Z') })
  const text = () => String(to.read() ?? '')
  const lines = () =>
    text()
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Record<string, unknown>)
  return { log, text, lines }
}

const refused = () => new ApiError({ doing: 'get Secret default/a', code: 403, message: 'forbidden' })

test('an event is one line of JSON: when, how grave, what, and its fields', () => {
  const { log, text } = aLog()
  log.info('carried out', { object: 'default/demo', did: ['apply'], nothing: undefined })
  expect(text()).toBe(
    '{"ts":"2026-01-02T03:04:05.678Z","level":"info","msg":"carried out","object":"default/demo","did":["apply"]}\n',
  )
})

test.each<[Level, string[]]>([
  ['error', ['error']],
  ['warn', ['error', 'warn']],
  ['info', ['error', 'warn', 'info']],
  ['debug', ['error', 'warn', 'info', 'debug']],
])('at %s it tells what is as grave or graver', (level, told) => {
  const { log, lines } = aLog(level)
  log.error('a')
  log.warn('a')
  log.info('a')
  log.debug('a')
  expect(lines().map((line) => line['level'])).toEqual(told)
})

test.each([
  [0, 'info'],
  [3, 'info'],
  [4, 'debug'],
  [10, 'debug'],
])('-v %i means %s', (verbosity, level) => {
  expect(levelOf(verbosity)).toBe(level)
})

test('the level can be switched, also for logs that were made of this one before', () => {
  const { log, lines } = aLog()
  const child = log.with({ controller: 'captcluster' }).with({ key: 'a' })
  child.debug('before')
  log.setLevel('debug')
  child.debug('after', { key: 'b' })
  expect(lines()).toEqual([expect.objectContaining({ msg: 'after', controller: 'captcluster', key: 'b' })])
})

test('a sealed value prints ***, however deep, and nothing where JSON fails', () => {
  const { log, text } = aLog()
  const token = seal('hunter2')
  const circular: Record<string, unknown> = { token }
  circular['self'] = circular
  log.info('a', { token, deep: [{ token }], circular, big: { token, n: 1n } })
  const line = text()
  expect(line).not.toContain('hunter2')
  expect(line.match(/\*\*\*/g)).toHaveLength(2)
})

test.each<[string, unknown, string]>([
  ['its causes', new Error('cannot start', { cause: new Error('no disk') }), 'cannot start: no disk'],
  [
    'what is said once, once',
    new Error('cannot start: no disk', { cause: new Error('no disk') }),
    'cannot start: no disk',
  ],
  ['what is no error', 'plain', 'plain'],
  ['what is nothing', undefined, ''],
  ['a cause that is no error', new Error('a', { cause: { code: 7 } }), 'a: {"code":7}'],
  ['one without a message', new TypeError(''), 'TypeError'],
  ['many in one', new AggregateError([new Error('no v4'), new Error('no v6')]), 'no v4, no v6'],
])('of an error it tells %s', (_, error, told) => {
  expect(tellError(error)).toBe(told)
})

test('an error that causes itself has an end', () => {
  const error = new Error('snake')
  error.cause = error
  expect(tellError(error)).toBe('snake')
  const many = new AggregateError([])
  many.errors = [many, 7]
  expect(tellError(many)).toBe(', 7')
})

test.each<[string, Level, Error, boolean]>([
  ['a bug has a stack', 'info', new TypeError('x is undefined'), true],
  ['what an API server says has none', 'info', refused(), false],
  ['what an API server caused has none', 'info', new Error('cannot begin', { cause: refused() }), false],
  ['at debug everything has one', 'debug', refused(), true],
])('%s', (_, level, error, hasStack) => {
  const { log, lines } = aLog(level)
  log.error('failed', { error })
  const [line] = lines()
  expect(line?.['error']).toBe(tellError(error))
  expect(line?.['stack']).toEqual(hasStack ? error.stack : undefined)
})

test('an error inside a field is told, without its stack', () => {
  const { log, lines } = aLog()
  log.warn('some failed', { failures: [{ key: 'a', error: new Error('b') }] })
  expect(lines()[0]?.['failures']).toEqual([{ key: 'a', error: 'b' }])
})

test('a log that cannot be written stops nobody', async () => {
  const broken = new Writable({ write: (_chunk, _encoding, done) => done(new Error('EPIPE')) })
  const log = createLog({ to: broken, level: 'info' })
  log.info('first')
  await new Promise((resolve) => {
    broken.once('close', resolve)
  })
  expect(() => log.info('second')).not.toThrow()
  await new Promise(setImmediate)
})

test('whatever its fields are, an event is one line that can be read', () => {
  const awkward = fc.constantFrom<unknown[]>(
    {
      toJSON: () => {
        throw new Error('no')
      },
    },
    {
      [Symbol.for('nodejs.util.inspect.custom')]: () => {
        throw new Error('no')
      },
      n: 1n,
    },
    () => undefined,
    Symbol('s'),
    new Map([[1, 2]]),
  )
  const values = fc.oneof(fc.anything({ withBigInt: true, withDate: true, withNullPrototype: true }), awkward)
  const names = fc.string().filter((name) => !['ts', 'level', 'msg', '__proto__', 'stack'].includes(name))
  fc.assert(
    fc.property(fc.string(), fc.dictionary(names, values), (msg, fields) => {
      const { log, text } = aLog()
      log.info(msg, fields)
      const line = text()
      expect(line.indexOf('\n')).toBe(line.length - 1)
      expect(JSON.parse(line)).toMatchObject({ level: 'info', msg })
    }),
  )
})
