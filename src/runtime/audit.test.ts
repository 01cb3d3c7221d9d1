import { expect, test } from 'vitest'
import { objectsInMemory } from '../../test/objects.ts'
import { Secret } from '../api/neighbours.ts'
import { WorkspaceTemplate } from '../api/workspacetemplate.ts'
import { audited } from './audit.ts'
import { systemClock } from './clock.ts'
import type { Log } from './log.ts'
import { createMetrics } from './metrics.ts'

const metadata = { namespace: 'team', name: 'demo-kubeconfig' }
const secret = { apiVersion: 'v1', kind: 'Secret', metadata, data: { value: 'czNjcjN0' } }
const how = { fieldManager: 'capt-test' }

function aScene() {
  const lines: string[] = []
  const write = (message: string, fields: object = {}) => void lines.push(`${message} ${JSON.stringify(fields)}`)
  const log: Log = { error: write, warn: write, info: write, debug: write, with: () => log, setLevel() {} }
  const metrics = createMetrics(systemClock)
  return { lines, metrics, client: audited(objectsInMemory().client, { clock: systemClock, log, metrics }) }
}

test('every write of a Secret is one line and is counted, and neither tells what was written', async () => {
  const { client, lines, metrics } = aScene()
  await client.apply(Secret, secret, how)
  await client.patch(Secret, metadata, { data: { value: 'b3RoZXI=' } })
  await client.remove(Secret, metadata)
  expect(lines).toEqual([
    'wrote a Secret {"verb":"apply","secret":"team/demo-kubeconfig"}',
    'wrote a Secret {"verb":"patch","secret":"team/demo-kubeconfig"}',
    'wrote a Secret {"verb":"delete","secret":"team/demo-kubeconfig"}',
  ])
  const told = metrics.render()
  for (const verb of ['apply', 'patch', 'delete']) {
    expect(told).toContain(`capt_secret_writes_total{verb="${verb}"} 1\n`)
    expect(told).toContain(`capt_secret_write_duration_seconds_count{verb="${verb}"} 1\n`)
  }
  expect(`${told}${lines.join('')}`).not.toMatch(/czNjcjN0|b3RoZXI=/)
})

test('a write that fails is told with why, and counted by it', async () => {
  const { client, lines, metrics } = aScene()
  await expect(client.patch(Secret, metadata, {})).rejects.toThrow(/NotFound/)
  expect(lines).toEqual([
    'could not write a Secret {"verb":"patch","secret":"team/demo-kubeconfig","reason":"NotFound"}',
  ])
  expect(metrics.render()).toContain('capt_secret_errors_total{reason="NotFound"} 1\n')
  expect(metrics.render()).not.toContain('capt_secret_writes_total{')
})

test('what is no Secret is written without a word', async () => {
  const { client, lines } = aScene()
  await expect(client.patch(WorkspaceTemplate, metadata, {})).rejects.toThrow(/NotFound/)
  expect(lines).toEqual([])
})
