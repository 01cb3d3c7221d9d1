import { describe, expect, test } from 'vitest'
import { messageOf } from '../../../test/applies.ts'
import {
  anEks,
  built,
  but,
  cluster,
  eksOutputs,
  fresh,
  plainly,
  point,
  rejected,
  saysOf,
  serving,
  withSecrets,
} from '../../../test/controlplanes.ts'
import type { Plan } from '../../runtime/plan.ts'
import { decide } from './decide.ts'
import type { Seen } from './seen.ts'

const does = (seen: Seen) => plainly(decide(seen))

describe('its endpoint', () => {
  const moved = { ...eksOutputs, cluster_endpoint: 'https://new.example:6443' }
  const inCluster = but(cluster, { spec: { controlPlaneEndpoint: { host: 'api.example', port: 443 } } })
  const patchOf = ({ effects }: Plan) => effects.flatMap((each) => (each.do === 'patch' ? [each.change] : []))

  test('is written after the Secrets, and status after both', () => {
    expect(patchOf(decide(built))).toEqual([{ spec: { controlPlaneEndpoint: { host: 'api.example', port: 443 } } }])
    expect(does(built).indexOf('Secret ca')).toBeLessThan(does(built).indexOf(point))
    expect(decide(built).status).toMatchObject({ initialization: { controlPlaneInitialized: true } })
  })
  test('is not written before the API server answers', () => {
    expect(patchOf(decide(withSecrets(built, { credential: fresh(rejected), answer: rejected })))).toEqual([])
  })
  test('comes from the Secret when the outputs have none', () => {
    expect(patchOf(decide({ ...built, eks: anEks('done', {}) }))).toHaveLength(1)
  })
  test('stays known though nobody tells it any more', () => {
    expect(saysOf(decide({ ...serving, eks: anEks('done', {}) }), 'EndpointReady')).toBe('Known')
  })
  test('is followed when it changes, and Cluster API, which does not follow, is told', () => {
    const plan = decide({ ...serving, cluster: inCluster, eks: anEks('done', moved) })
    expect(patchOf(plan)).toEqual([{ spec: { controlPlaneEndpoint: { host: 'new.example', port: 6443 } } }])
    expect(saysOf(plan, 'EndpointReady')).toBe('Changed')
    expect(messageOf(plan, 'EndpointReady')).toContain('api.example')
  })
  test('of the Cluster is never written', () => {
    expect(JSON.stringify(decide({ ...built, cluster: inCluster }).effects)).not.toContain(
      '"kind":"Cluster","metadata":{"name":"demo","namespace":"team"},"spec"',
    )
  })
})
