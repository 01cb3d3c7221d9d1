import { expect, test } from 'vitest'
import { virtualClock } from '../../test/clock.ts'
import type { SubjectAccessReview, TokenReview } from '../api/neighbours.ts'
import type { KubeObject, Resource } from '../api/resource.ts'
import { seal } from '../api/sealed.ts'
import { ApiError } from '../kube/errors.ts'
import { createReviews } from './reviews.ts'

const metrics = { verb: 'get', path: '/metrics' }

// An API server that knows tokens of the form `user`, and lets those whose name begins with `ok`.
function anApiServer() {
  const asked: KubeObject[] = []
  let isAway = false
  const client = {
    async create<T extends KubeObject>(resource: Resource<T>, object: T): Promise<T> {
      await Promise.resolve()
      asked.push(object)
      if (isAway) throw new ApiError({ doing: `create ${resource.kind}`, message: 'connection refused' })
      if (resource.kind === 'TokenReview') {
        const { token } = (object as unknown as TokenReview).spec
        const user = { username: token, groups: ['people'] }
        return {
          ...object,
          status: token.startsWith('nobody') ? { authenticated: false } : { authenticated: true, user },
        }
      }
      const { user } = (object as unknown as SubjectAccessReview).spec
      return { ...object, status: { allowed: user.startsWith('ok') } }
    },
  }
  return {
    client,
    asked,
    setAway(away: boolean) {
      isAway = away
    },
  }
}

function someReviews() {
  const server = anApiServer()
  const clock = virtualClock()
  const { review } = createReviews(server.client, clock)
  return { ...server, clock, review: async (token: string, page = metrics) => review(seal(token), page) }
}

test('it asks whose the token is, then whether that user may', async () => {
  const { review, asked } = someReviews()
  expect(await review('ok-ann')).toBe('allowed')
  expect(asked).toEqual([
    {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenReview',
      metadata: { name: '' },
      spec: { token: 'ok-ann' },
    },
    {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      metadata: { name: '' },
      spec: { user: 'ok-ann', groups: ['people'], nonResourceAttributes: metrics },
    },
  ])
})

test.each([
  ['ok-ann', 'allowed', 60],
  ['ben', 'denied', 10],
  ['nobody', 'unknown', 10],
])('that %s is %s is kept for %i seconds', async (token, verdict, seconds) => {
  const { review, asked, clock } = someReviews()
  expect(await review(token)).toBe(verdict)
  const once = asked.length
  await clock.advance(seconds * 1000 - 1)
  expect(await review(token)).toBe(verdict)
  expect(asked).toHaveLength(once)
  await clock.advance(1)
  expect(await review(token)).toBe(verdict)
  expect(asked).toHaveLength(once * 2)
})

test('what holds for one page or verb says nothing of another', async () => {
  const { review, asked } = someReviews()
  await review('ok-ann')
  await review('ok-ann', { ...metrics, path: '/debug/flags/v' })
  await review('ok-ann', { ...metrics, verb: 'put' })
  expect(asked).toHaveLength(6)
})

test('who asks while it is being asked waits for the same answer', async () => {
  const { review, asked } = someReviews()
  expect(await Promise.all([review('ok-ann'), review('ok-ann'), review('ok-ann')])).toEqual(Array(3).fill('allowed'))
  expect(asked).toHaveLength(2)
})

test('that the API server was away is not kept', async () => {
  const { review, setAway } = someReviews()
  setAway(true)
  await expect(review('ok-ann')).rejects.toThrow('cannot create TokenReview: connection refused')
  await expect(Promise.all([review('ok-ann'), review('ok-ann')])).rejects.toThrow('connection refused')
  setAway(false)
  expect(await review('ok-ann')).toBe('allowed')
})

test('what was asked for again is not the oldest any more', async () => {
  const { review, asked, clock } = someReviews()
  await review('nobody-0')
  await review('nobody-1')
  await clock.advance(10_000)
  await review('nobody-0')
  for (let n = 2; n <= 1000; n++) await review(`nobody-${n}`)
  asked.length = 0
  await review('nobody-0')
  expect(asked).toEqual([])
})

test('a flood of tokens does not fill the memory: the oldest are forgotten', async () => {
  const { review, asked } = someReviews()
  for (let n = 0; n <= 1000; n++) await review(`nobody-${n}`)
  asked.length = 0
  await review('nobody-1000')
  await review('nobody-1')
  expect(asked).toEqual([])
  await review('nobody-0')
  expect(asked).toHaveLength(1)
})
