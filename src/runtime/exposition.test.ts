import fc from 'fast-check'
import { expect, expectTypeOf, test } from 'vitest'
import { createExposition } from './exposition.ts'

test('it is rendered as Prometheus reads it, in the order of names and labels', () => {
  const { counter, gauge, histogram, render, described } = createExposition()
  const requests = counter('requests_total{code,method}', 'Requests.\nAll of \\them.')
  const get = requests.with({ method: 'get', code: '200' })
  requests.with({ method: 'put', code: '"\\\n' }).add(2)
  get.add()
  get.add(0.5)
  const seconds = histogram('latency_seconds', 'How long.', [0.1, 1])
  for (const each of [0.1, 0.11, 1, 7]) seconds.with({}).observe(each)
  const depth = gauge('depth{name}', 'Waiting.')
  depth.with({ name: 'b' }).set(-3)
  depth.with({ name: 'a' }).add(-1)
  expect(render()).toBe(
    `# HELP depth Waiting.
# TYPE depth gauge
depth{name="a"} -1
depth{name="b"} -3
# HELP latency_seconds How long.
# TYPE latency_seconds histogram
latency_seconds_bucket{le="0.1"} 1
latency_seconds_bucket{le="1"} 3
latency_seconds_bucket{le="+Inf"} 4
latency_seconds_sum 8.21
latency_seconds_count 4
# HELP requests_total Requests.\\nAll of \\\\them.
# TYPE requests_total counter
requests_total{code="200",method="get"} 1.5
requests_total{code="\\"\\\\\\n",method="put"} 2
`,
  )
  expect(described[0]).toMatchObject({
    type: 'counter',
    name: 'requests_total',
    labels: ['code', 'method'],
    help: 'Requests.\nAll of \\them.',
  })
})

test('a histogram with labels says the bound last', () => {
  const { histogram, render } = createExposition()
  histogram('x{a}', '.', [2]).with({ a: 'b' }).observe(1)
  expect(render()).toContain(
    'x_bucket{a="b",le="2"} 1\nx_bucket{a="b",le="+Inf"} 1\nx_sum{a="b"} 1\nx_count{a="b"} 1\n',
  )
})

test('the same labels are the same series', () => {
  const { counter, render } = createExposition()
  const family = counter('x{a,b}', '.')
  expect(family.with({ a: '1', b: '2' })).toBe(family.with({ b: '2', a: '1' }))
  family.with({ a: '1', b: '2' }).add()
  family.with({ a: '1', b: '2' }).add()
  expect(render()).toContain('x{a="1",b="2"} 2\n')
})

test('a value can be asked for when it is wanted, and may be none', () => {
  const { gauge, render } = createExposition()
  let now: number | undefined = 1
  gauge('x', '.').read({}, () => now)
  expect(render()).toContain('\nx 1\n')
  now = undefined
  expect(render()).not.toContain('\nx ')
})

test.each([
  [Number.POSITIVE_INFINITY, '+Inf'],
  [Number.NEGATIVE_INFINITY, '-Inf'],
  [Number.NaN, 'NaN'],
  [1e-8, '1e-8'],
  [1e21, '1e+21'],
])('%d is spelt %s', (value, told) => {
  const { gauge, render } = createExposition()
  gauge('x', '.').with({}).set(value)
  expect(render()).toContain(`\nx ${told}\n`)
})

test('a name can be taken once', () => {
  const { gauge, counter } = createExposition()
  gauge('x', '.')
  expect(() => counter('x{a}', '.')).toThrow('the metric x is there already')
})

test('labels that a metric does not have, or lacks, do not compile', () => {
  const family = createExposition().counter('x{a,b}', '.')
  expectTypeOf(family.with).parameter(0).toEqualTypeOf<Readonly<Record<'a' | 'b', string>>>()
})

test('whatever a label says, it stays on its line and can be read back', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('\\', '"', '\n', 'n', '{', '}', ',', 'é') }), (value) => {
      const { gauge, render } = createExposition()
      gauge('x{a}', '.').with({ a: value }).set(1)
      const [, told = ''] = /\nx\{a="(.*)"\} 1\n$/.exec(render()) ?? []
      const readBack = told.replaceAll(/\\(.)/g, (_, letter: string) => (letter === 'n' ? '\n' : letter))
      expect(readBack).toBe(value)
    }),
  )
})

test('a bucket counts what is not above its bound', () => {
  const bounds = [1, 2, 5]
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.constantFrom(...bounds), fc.integer({ min: 0, max: 9 }))), (values) => {
      const { histogram, render } = createExposition()
      const x = histogram('x', '.', bounds).with({})
      for (const value of values) x.observe(value)
      const text = render()
      for (const bound of bounds)
        expect(text).toContain(`x_bucket{le="${bound}"} ${values.filter((value) => value <= bound).length}\n`)
      expect(text).toContain(`x_sum ${values.reduce((sum, value) => sum + value, 0)}\nx_count ${values.length}\n`)
    }),
  )
})
