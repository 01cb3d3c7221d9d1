import { expect, test } from 'vitest'
import { conditionsOf } from '../bed/describe.ts'
import type { KubeObject } from '../bed/kube.ts'
import { theBed } from '../bed/story.ts'
import { aWorkspaceTemplate } from '../given.ts'

const bed = theBed()
const apiVersion = 'infrastructure.cluster.x-k8s.io/v1beta1'
const aTemplate = (namespace: string, module: string) => aWorkspaceTemplate({ namespace, name: 'vpc', module })
const anApply = (namespace: string, name: string): KubeObject => ({
  apiVersion,
  kind: 'WorkspaceTemplateApply',
  metadata: { name, namespace },
  spec: { templateRef: { name: 'vpc' } },
})
const statusOf = ({ status = {} }: KubeObject) =>
  status as { revision?: string; users?: { count: number; names: string[] } }

test('a WorkspaceTemplate is judged, corrected, used and left alone when nothing changes', async () => {
  const namespace = await bed.namespace('template')
  const torn = aTemplate(namespace, 'variable "region" {\n  type = string\n')
  await bed.kube.apply(torn)
  const refused = await bed.kube.seeCondition(torn, 'Ready', 'False')
  const [ready] = conditionsOf(refused)
  expect(ready).toMatchObject({ type: 'Ready', reason: 'InvalidModule' })
  expect(ready?.message).toContain('line 1: this block is never closed')
  const events = async () =>
    (await bed.kube.list('events.k8s.io/v1', 'Event', namespace)).map(
      ({ reason, type }) => `${String(type)} ${String(reason)}`,
    )
  await expect.poll(events, { timeout: 20_000 }).toEqual(['Warning InvalidModule'])

  await bed.kube.apply(aTemplate(namespace, 'variable "region" {\n  type = string\n}\n'))
  const accepted = await bed.kube.see(torn, 'is judged anew', (seen) => conditionsOf(seen)[0]?.reason === 'Valid')
  expect(accepted['status']).toMatchObject({ observedGeneration: accepted.metadata.generation })
  expect(statusOf(accepted).revision).not.toBe(statusOf(refused).revision)

  await bed.kube.apply(anApply(namespace, 'demo-b'), anApply(namespace, 'demo-a'))
  const used = await bed.kube.see(torn, 'counts its users', (seen) => statusOf(seen).users?.count === 2)
  expect(statusOf(used).users?.names).toEqual(['demo-a', 'demo-b'])
  await bed.kube.remove(anApply(namespace, 'demo-a'))
  const left = await bed.kube.see(torn, 'counts who is left', (seen) => statusOf(seen).users?.count === 1)

  // Touched by somebody, but not changed: nothing is written.
  await bed.kube.patch(torn, { metadata: { labels: { touched: 'yes' } } })
  await bed.kube.apply(anApply(namespace, 'demo-b'))
  const writes = async () =>
    (await bed.audit({ namespace })).filter(
      ({ resource, verb }) => verb === 'patch' && resource === 'workspacetemplates/status',
    )
  const before = (await writes()).length
  await new Promise((resolve) => setTimeout(resolve, 1500))
  expect(await writes()).toHaveLength(before)
  expect((await bed.kube.read(torn))?.['status']).toEqual(left['status'])
})
