import { expect, test } from 'vitest'
import { CAPTCluster } from '../api/captcluster.ts'
import { CAPTControlPlane } from '../api/captcontrolplane.ts'
import { CAPTMachine } from '../api/captmachine.ts'
import { CAPTMachineDeployment } from '../api/captmachinedeployment.ts'
import { CAPTMachinePool } from '../api/captmachinepool.ts'
import { CAPTMachineSet } from '../api/captmachineset.ts'
import type { Words } from '../api/condition.ts'
import { WorkspaceTemplateApply } from '../api/workspacetemplateapply.ts'
import { meaningOf, standingFor } from './words.ts'

// True, they tell that something goes on, and False that nothing does.
const negative = new Set(['Paused', 'Deleting', 'RollingOut', 'Drifted'])

test.each<{ kind: string; words: Words }>([
  CAPTCluster,
  CAPTControlPlane,
  WorkspaceTemplateApply,
  CAPTMachine,
  CAPTMachinePool,
  CAPTMachineSet,
  CAPTMachineDeployment,
])('every reason for which a $kind is not as it should be has a meaning', ({ words }) => {
  const bad = Object.entries(words)
    .filter(([type]) => !negative.has(type))
    .flatMap(([, reasons]) => Object.entries(reasons))
    .filter(([, status]) => status !== 'True')
    .map(([reason]) => reason)
  expect(bad.length).toBeGreaterThan(0)
  expect(bad.filter((reason) => meaningOf(reason) === undefined)).toEqual([])
})

test.each([
  ['InstanceProvisionFailed', 'failed'],
  ['InternalError', 'failed'],
  ['WaitingForNodeRef', 'waiting'],
  ['NotUpToDate', 'waiting'],
  ['ScalingUp', 'working'],
  ['', 'waiting'],
])('a word of others, %s, is taken for what it looks like', (reason, standing) => {
  expect(standingFor(reason)).toBe(standing)
})
