import { expect, test } from 'vitest'
import type { WorkspaceGroup } from '../../api/workspace.ts'
import { chooseEngine } from './engines.ts'

const one = 'tf.m.upbound.io'
const other = 'opentofu.upbound.io'

test.each<[string, WorkspaceGroup | 'auto', readonly WorkspaceGroup[], readonly WorkspaceGroup[], string]>([
  ['the one that was asked for', other, [one, other], [one], other],
  ['none, when nobody serves what was asked for', other, [one], [one], 'NoEngine'],
  ['the only one served', 'auto', [one], [], one],
  ['the one that holds ours', 'auto', [one, other], [other], other],
  ['none, when several are served', 'auto', [one, other], [], 'AmbiguousEngine'],
  ['none, when several hold ours', 'auto', [one, other], [one, other], 'AmbiguousEngine'],
  ['none, when nobody serves any', 'auto', [], [one], 'NoEngine'],
])('%s', (_, asked, served, holding, is) => {
  const choice = chooseEngine({
    asked,
    isServed: (group) => served.includes(group),
    hasOurs: (group) => holding.includes(group),
  })
  expect(choice.is === 'chosen' ? choice.group : choice.reason).toBe(is)
})

test('who cannot choose says what to pass', () => {
  const choice = chooseEngine({ asked: 'auto', isServed: () => true, hasOurs: (group) => group !== 'tf.upbound.io' })
  expect(choice).toMatchObject({
    message:
      'Workspaces are served in tf.m.upbound.io and opentofu.upbound.io and opentofu.m.upbound.io: say which with --workspace-api on the manager, or workspaceAPI in the template',
  })
})
