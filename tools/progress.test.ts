import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Progress, secondsLeft, tell } from './progress.ts'

const start: Progress = {
  name: 'kube-apiserver v1.36.3',
  step: 2,
  steps: 9,
  compiled: 0,
  packages: 0,
  doneSeconds: 56,
  allSeconds: 1100,
  elapsedSeconds: 56,
}

test.each<{ when: string; progress: Partial<Progress>; tells: string }>([
  {
    when: 'it has just begun',
    progress: {},
    tells: 'building kube-apiserver v1.36.3 (2 of 9, fetching modules), 0:56 elapsed, about 17 min left',
  },
  {
    when: 'packages are known',
    progress: { compiled: 895, packages: 1790, doneSeconds: 229, elapsedSeconds: 200 },
    tells: 'building kube-apiserver v1.36.3 (2 of 9, 895 of 1790 packages), 3:20 elapsed, about 13 min left',
  },
  {
    when: 'this machine is four times as fast',
    progress: { doneSeconds: 560, elapsedSeconds: 140 },
    tells: 'building kube-apiserver v1.36.3 (2 of 9, fetching modules), 2:20 elapsed, about 3 min left',
  },
  {
    when: 'it is nearly done',
    progress: { doneSeconds: 1090, elapsedSeconds: 1090 },
    tells: 'building kube-apiserver v1.36.3 (2 of 9, fetching modules), 18:10 elapsed, less than a minute left',
  },
])('when $when', ({ progress, tells }) => {
  expect(tell({ ...start, ...progress })).toBe(tells)
})

test('the estimate lies between the pace of the table and the pace of this machine', () => {
  const seconds = fc.double({ min: 0, max: 5000, noNaN: true })
  const slowness = fc.double({ min: 0.1, max: 10, noNaN: true })
  fc.assert(
    fc.property(seconds, seconds, slowness, (allSeconds, done, slow) => {
      const doneSeconds = Math.min(done, allSeconds)
      const left = allSeconds - doneSeconds
      const estimate = secondsLeft({ ...start, allSeconds, doneSeconds, elapsedSeconds: doneSeconds * slow })
      expect(estimate).toBeGreaterThanOrEqual(left * Math.min(1, slow) - 1e-6)
      expect(estimate).toBeLessThanOrEqual(left * Math.max(1, slow) + 1e-6)
    }),
  )
})
