import { describe, expect, test } from 'vitest'
import { condition } from '../../test/applies.ts'
import { anApply, but, controlPlane, gone, network } from '../../test/controlplanes.ts'
import { ask, oldStatusOf, runOf, sortOut } from './childapply.ts'

const mine = anApply('demo-vpc', network, 'done')
const ownerless = anApply('demo-vpc', undefined, 'done')
const of = (...ownerReferences: readonly object[]) => but(ownerless, { metadata: { ownerReferences } })
const [owner = {}] = mine.metadata.ownerReferences ?? []
const note = { 'capt.appthrust.io/revision': 'r' }
const labelled = (name: string, label = 'capt.appthrust.io/cluster') => ({ metadata: { labels: { [label]: name } } })
const byUser = (name: string) => labelled(name, 'cluster.x-k8s.io/cluster-name')

describe('whose an apply is', () => {
  test.each<[string, typeof mine, boolean]>([
    ['the one we made', mine, true],
    ['one of ours from before a move, when uids were others', of({ ...owner, uid: 'before' }), true],
    [
      'one of ours in an older version of the API',
      of({ ...owner, apiVersion: 'infrastructure.cluster.x-k8s.io/v1alpha1' }),
      true,
    ],
    ['one of ours that others own too', of({ ...owner, name: 'x', controller: false }, owner), true],
    ['one that lost its owner in a backup', but(ownerless, labelled('demo')), true],
    ['one of another name', of({ ...owner, name: 'other' }), false],
    ['one of another kind', of({ ...owner, kind: 'CAPTControlPlane' }), false],
    ['one of another group', of({ ...owner, apiVersion: 'x/v1' }), false],
    ['one that was stripped of all but our note', but(ownerless, { metadata: { annotations: note } }), true],
    [
      'one with our note, and for another cluster',
      but(ownerless, { metadata: { annotations: note, ...labelled('other').metadata } }),
      false,
    ],
    ['one that a user made', ownerless, false],
    ['one that a user made, to be paused with the cluster', but(ownerless, byUser('demo')), false],
    ['one for another cluster', but(ownerless, labelled('other')), false],
    [
      'one with our note, of which a user says that it is for another cluster',
      but(ownerless, { metadata: { annotations: note, ...byUser('other').metadata } }),
      false,
    ],
  ])('%s', (_, apply, isOurs) => {
    expect(sortOut(apply, network, 'demo')).toEqual({
      apply: isOurs ? apply : undefined,
      taken: isOurs ? undefined : apply,
    })
  })
  test('the one that says so, when its owner was stripped of its own', () => {
    const stripped = but(ownerless, { metadata: { annotations: note, ...labelled('demo').metadata } })
    expect(sortOut(stripped, network, undefined).apply).toBe(stripped)
    expect(sortOut(but(ownerless, labelled('demo')), network, undefined).apply).toBeUndefined()
  })
  test('none', () => {
    expect(sortOut(undefined, network, 'demo')).toEqual({ apply: undefined, taken: undefined })
  })
})

describe('how far its last run is', () => {
  const said = (status: 'True' | 'False', reason: string, more: object = {}) =>
    but(mine, { status: { conditions: [condition('Ready', status, reason, { message: 'why', ...more })] } })
  test.each<[string, typeof mine, string, string]>([
    ['it was just made', anApply('demo-vpc', network, 'new'), 'running', 'is at work'],
    ['it is done', mine, 'done', ''],
    ['it stays at a revision', said('True', 'RevisionPinned'), 'done', ''],
    ['it is asked for a change', but(mine, { metadata: { generation: 2 } }), 'running', 'is asked for a change'],
    ['it is at work, step by step', said('False', 'Applying'), 'running', 'demo-vpc is at work'],
    ['it is at work, a step further', said('False', 'Planning'), 'running', 'demo-vpc is at work'],
    ['it waits for another', said('False', 'WaitingForWorkspaces'), 'running', ': why'],
    ['it is paused', said('False', 'Paused'), 'running', ': why'],
    [
      'it is paused, and asked for a change',
      but(mine, {
        metadata: { generation: 2 },
        status: {
          conditions: [condition('Ready', 'True', 'Ready'), condition('Paused', 'True', 'Paused', { message: 'by x' })],
        },
      }),
      'running',
      'waits while it is paused: by x',
    ],
    ['it may only plan', said('False', 'PlanOnly'), 'running', ': why'],
    ['Terraform failed', said('False', 'TerraformFailed'), 'failed', ': why'],
    ['a variable lacks', said('False', 'MissingVariables'), 'failed', ': why'],
    ['no engine is there', said('False', 'EngineSilent'), 'failed', ': why'],
    ['its plan is held', said('False', 'ApprovalRequired'), 'held', ': why'],
    ['it was adopted', said('False', 'AdoptionFrozen'), 'held', ': why'],
    ['it says nothing more', said('False', 'NoEngine', { message: '' }), 'failed', ': NoEngine'],
    ['it was done, and is being deleted', but(mine, gone), 'failed', 'is being deleted'],
  ])('%s', (_, apply, is, why) => {
    const run = runOf(apply)
    expect(run.is).toBe(is)
    expect(run.why).toContain(why)
    expect(run.why === '' || run.why.includes('WorkspaceTemplateApply team/demo-vpc')).toBe(true)
  })

  test('scripts of the predecessor find what they look for, and no failure that has passed', () => {
    const failed = oldStatusOf(mine, runOf(anApply('demo-vpc', network, 'failed')))
    expect(failed).toEqual({
      ready: false,
      workspaceName: 'demo-vpc',
      lastFailureMessage: 'WorkspaceTemplateApply team/demo-vpc: quota: VpcLimitExceeded',
    })
    expect(oldStatusOf(mine, runOf(mine), failed)).toEqual({ ready: true, lastFailureMessage: null })
  })
})

describe('with --watch-filter', () => {
  const filtered = (value: string) => ({ metadata: { labels: { 'cluster.x-k8s.io/watch-filter': value } } })
  const wish = (subject: typeof controlPlane, watchFilter?: string) => {
    const effect = ask(subject, { name: 'a', watchFilter, spec: { templateRef: { name: 't' } } })
    return effect.do === 'apply' ? effect.object.metadata : undefined
  }
  test('an apply is looked after by whoever looks after what it is for', () => {
    expect(wish(but(controlPlane, filtered('blue')))).toMatchObject(filtered('blue').metadata)
    expect(wish(but(controlPlane, filtered('green')), 'blue')).toMatchObject(filtered('blue').metadata)
    expect(wish(controlPlane)).not.toHaveProperty('labels')
  })
  test('one that nobody in particular is to look after any more is another wish', () => {
    expect(wish(but(controlPlane, filtered('blue')))?.annotations).not.toEqual(wish(controlPlane)?.annotations)
  })
})

test('a wish that becomes smaller is another wish', () => {
  const revision = (spec: object) => {
    const wish = ask(controlPlane, { name: 'a', spec: { templateRef: { name: 't' }, ...spec } })
    return wish.do === 'apply' ? wish.object.metadata.annotations : undefined
  }
  expect(revision({ variables: { a: 1, b: 2 } })).not.toEqual(revision({ variables: { a: 1 } }))
  expect(revision({ variables: { a: 1, b: 2 } })).toEqual(revision({ variables: { b: 2, a: 1 } }))
})
