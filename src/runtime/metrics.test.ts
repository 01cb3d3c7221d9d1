import { expect, test } from 'vitest'
import { virtualClock } from '../../test/clock.ts'
import { createMetrics } from './metrics.ts'

function someMetrics() {
  const clock = virtualClock(5000)
  const metrics = createMetrics(clock)
  const value = (series: string) =>
    metrics
      .render()
      .split('\n')
      .find((line) => line.startsWith(`${series} `))
      ?.slice(series.length + 1)
  return { clock, metrics, value }
}

test('the names and labels are those that boards for controller-runtime ask for', () => {
  const spelt = someMetrics().metrics.described.map(({ type, name, labels }) => `${type} ${name}{${labels.join()}}`)
  expect(spelt.toSorted()).toEqual([
    'counter capt_secret_errors_total{reason}',
    'counter capt_secret_writes_total{verb}',
    'counter capt_watch_restarts_total{resource}',
    'counter controller_runtime_reconcile_errors_total{controller}',
    'counter controller_runtime_reconcile_total{controller,result}',
    'counter process_cpu_seconds_total{}',
    'counter rest_client_requests_total{code,method,host}',
    'counter workqueue_adds_total{name,controller}',
    'counter workqueue_retries_total{name,controller}',
    'gauge capt_cache_objects{resource}',
    'gauge capt_watch_seconds_since_success{resource}',
    'gauge controller_runtime_active_workers{controller}',
    'gauge controller_runtime_max_concurrent_reconciles{controller}',
    'gauge leader_election_master_status{name}',
    'gauge nodejs_eventloop_lag_seconds{}',
    'gauge process_open_fds{}',
    'gauge process_resident_memory_bytes{}',
    'gauge process_start_time_seconds{}',
    'gauge workqueue_depth{name,controller}',
    'gauge workqueue_longest_running_processor_seconds{name,controller}',
    'gauge workqueue_unfinished_work_seconds{name,controller}',
    'histogram capt_secret_write_duration_seconds{verb}',
    'histogram controller_runtime_reconcile_time_seconds{controller}',
    'histogram workqueue_queue_duration_seconds{name,controller}',
    'histogram workqueue_work_duration_seconds{name,controller}',
  ])
})

test('every metric has a sentence', () => {
  for (const { name, help } of someMetrics().metrics.described) expect(help, name).toMatch(/^[A-Z1].+\.$/)
})

test('a controller that has done nothing yet is there with zeros', () => {
  const { metrics, value } = someMetrics()
  metrics.ofController('captcluster', { workers: 10, waiting: () => 3 })
  for (const result of ['success', 'error', 'requeue', 'requeue_after'])
    expect(value(`controller_runtime_reconcile_total{controller="captcluster",result="${result}"}`)).toBe('0')
  expect(value('controller_runtime_max_concurrent_reconciles{controller="captcluster"}')).toBe('10')
  expect(value('workqueue_depth{name="captcluster",controller="captcluster"}')).toBe('3')
  expect(value('workqueue_longest_running_processor_seconds{name="captcluster",controller="captcluster"}')).toBe('0')
})

test('while workers are on keys it says how many and how long, afterwards how it went', async () => {
  const { clock, metrics, value } = someMetrics()
  const a = metrics.ofController('a', { workers: 2, waiting: () => 0 })
  const b = metrics.ofController('b', { workers: 2, waiting: () => 0 })
  a.added()
  a.retried()
  b.began('default/other', 0)
  const first = a.began('default/x', 0.5)
  await clock.advance(3000)
  const second = a.began('default/y', 0)
  await clock.advance(1000)
  const ofQueue = '{name="a",controller="a"}'
  expect(value('controller_runtime_active_workers{controller="a"}')).toBe('2')
  expect(value(`workqueue_unfinished_work_seconds${ofQueue}`)).toBe('5')
  expect(value(`workqueue_longest_running_processor_seconds${ofQueue}`)).toBe('4')
  expect(metrics.running()).toEqual([
    { controller: 'b', key: 'default/other', seconds: 4 },
    { controller: 'a', key: 'default/x', seconds: 4 },
    { controller: 'a', key: 'default/y', seconds: 1 },
  ])

  first('error')
  second('requeue_after')
  expect(value('controller_runtime_active_workers{controller="a"}')).toBe('0')
  expect(value('controller_runtime_reconcile_total{controller="a",result="error"}')).toBe('1')
  expect(value('controller_runtime_reconcile_total{controller="a",result="requeue_after"}')).toBe('1')
  expect(value('controller_runtime_reconcile_total{controller="a",result="success"}')).toBe('0')
  expect(value('controller_runtime_reconcile_errors_total{controller="a"}')).toBe('1')
  expect(value('controller_runtime_reconcile_errors_total{controller="b"}')).toBe('0')
  expect(value('controller_runtime_reconcile_time_seconds_sum{controller="a"}')).toBe('5')
  expect(value('controller_runtime_reconcile_time_seconds_bucket{controller="a",le="1"}')).toBe('1')
  expect(value(`workqueue_work_duration_seconds_count${ofQueue}`)).toBe('2')
  expect(value(`workqueue_queue_duration_seconds_sum${ofQueue}`)).toBe('0.5')
  expect(value(`workqueue_adds_total${ofQueue}`)).toBe('1')
  expect(value(`workqueue_retries_total${ofQueue}`)).toBe('1')
})

test('a pass ends once', () => {
  const ended = someMetrics()
    .metrics.ofController('a', { workers: 1, waiting: () => 0 })
    .began('default/x', 0)
  ended('success')
  expect(() => ended('success')).toThrow('a default/x ended twice')
})

test('it tells of the process itself', () => {
  const { value } = someMetrics()
  expect(Number(value('process_resident_memory_bytes'))).toBeGreaterThan(10_000_000)
  expect(Number(value('process_cpu_seconds_total'))).toBeGreaterThan(0)
  expect(Math.abs(Number(value('process_start_time_seconds')) - Date.now() / 1000)).toBeLessThan(86_400)
})

test.runIf(process.platform === 'linux')('it tells how many files the process has open', () => {
  expect(Number(someMetrics().value('process_open_fds'))).toBeGreaterThan(2)
})
