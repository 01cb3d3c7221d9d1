import { expect, test } from 'vitest'
import { argumentsOf } from './arguments.ts'

const inputs = { varArgs: ['-var=a=1'], hasBackendFile: false }

test('variables go where there is planning, and what is asked for comes last', () => {
  const said = {
    initArgs: ['-upgrade'],
    planArgs: ['-parallelism=2'],
    applyArgs: ['-lock-timeout=9s'],
    destroyArgs: ['-d'],
  }
  expect(argumentsOf(inputs, said)).toEqual({
    init: ['-upgrade'],
    plan: ['-var=a=1', '-parallelism=2'],
    apply: ['-lock-timeout=9s'],
    destroy: ['-var=a=1', '-d'],
  })
})

test('a backend file is named to init, before what may change it', () => {
  expect(argumentsOf({ ...inputs, hasBackendFile: true }, { initArgs: ['-backend-config=x=y'] }).init).toEqual([
    '-backend-config=crossplane.remote.tfbackend',
    '-backend-config=x=y',
  ])
})

test.each<[readonly string[], readonly string[], readonly string[]]>([
  [['-target=a.b', '-parallelism=1'], ['-target=a.b'], ['-parallelism=1']],
  [
    ['-target', 'a.b', '-parallelism', '1'],
    ['-target', 'a.b'],
    ['-parallelism', '1'],
  ],
  [['-var', 'a=b', '--var-file=x', '-replace=a.b'], ['-var', 'a=b', '--var-file=x', '-replace=a.b'], []],
  [['-refresh=false', '-refresh-only', '-auto-approve'], ['-refresh=false', '-refresh-only'], ['-auto-approve']],
  [['-target'], ['-target'], []],
  [['-variable=1'], [], ['-variable=1']],
])('of applyArgs %j, %j belong to the plan', (applyArgs, planned, applied) => {
  const { plan, apply } = argumentsOf({ ...inputs, varArgs: [] }, { applyArgs })
  expect([plan, apply]).toEqual([planned, applied])
})
