import { expect, test } from 'vitest'
import * as z from 'zod'
import { engineSettingsOf, hurryMs } from '../../src/engine/settings.ts'
import { engineObjects } from './enginemanifest.ts'

const Deployment = z.object({
  kind: z.literal('Deployment'),
  spec: z.object({
    template: z.object({
      spec: z.object({
        terminationGracePeriodSeconds: z.number(),
        containers: z.tuple([z.object({ args: z.array(z.string()) })]),
      }),
    }),
  }),
})

const [pod] = engineObjects().flatMap((object) => {
  const read = Deployment.safeParse(object)
  return read.success ? [read.data.spec.template.spec] : []
})
const { settings } = engineSettingsOf(pod?.containers[0].args ?? [])

test('the pod has time for a run that has just begun, for its interrupt and for a last word', () => {
  const graceMs = (pod?.terminationGracePeriodSeconds ?? 0) * 1000
  expect(graceMs).toBeGreaterThan(settings.timeoutMs + hurryMs)
  expect(graceMs).toBeGreaterThan(settings.drainMs + hurryMs)
})

test('an API server that is away for a minute interrupts no run', () => {
  expect(settings.isElected).toBe(true)
  expect(settings.renewMs).toBeGreaterThan(60_000)
})
