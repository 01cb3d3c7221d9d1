// CAPTMachineDeployment: so many CAPTMachines, replaced step by step when their template changes.

import { clusterName } from './captmachine.ts'
import {
  count,
  machineTemplate,
  replicaColumns,
  replicas,
  scale,
  scaleStatus,
  selectorFindsItsOwn,
} from './captmachineset.ts'
import { shared } from './condition.ts'
import { failure, labelSelector, statusBasics } from './fields.ts'
import { age, conditionColumns, groups, kind, type ObjectOf } from './kind.ts'
import { flag, integer, intOrPercent, object, oneOf } from './schema.ts'

const isZero = (value: number | string) => value === 0 || value === '0%' || value === '00%'

const rollingUpdate = () =>
  object(
    {
      maxUnavailable: intOrPercent({ max: 10_000 })
        .default(0)
        .describe('How many machines may be missing during the change: a number, or a share such as 25%.'),
      maxSurge: intOrPercent({ max: 10_000 })
        .default(1)
        .describe(
          'How many machines may be there beyond the wish during the change: a number, or a share such as 25%.',
        ),
    },
    [
      {
        cel: "!((type(self.maxUnavailable) == int ? self.maxUnavailable == 0 : self.maxUnavailable in ['0%', '00%']) && (type(self.maxSurge) == int ? self.maxSurge == 0 : self.maxSurge in ['0%', '00%']))",
        message:
          'maxUnavailable and maxSurge cannot both be zero, for then no machine could ever be replaced: set one of them to at least 1',
        holds: (self) => !(isZero(self.maxUnavailable) && isZero(self.maxSurge)),
      },
    ],
  )

const strategy = () =>
  object(
    {
      type: oneOf('RollingUpdate', 'Recreate')
        .default('RollingUpdate')
        .describe('RollingUpdate: new machines come as old ones go. Recreate: all old ones go first.'),
      rollingUpdate: rollingUpdate().optional().describe('How many at a time. Omitted: one more comes, then one goes.'),
    },
    [
      {
        cel: "!has(self.rollingUpdate) || self.type == 'RollingUpdate'",
        message: 'rollingUpdate is for type RollingUpdate: remove it, or change the type',
        holds: (self) => self.rollingUpdate === undefined || self.type === 'RollingUpdate',
      },
    ],
  )

export const CAPTMachineDeployment = kind({
  group: groups.infrastructure,
  kind: 'CAPTMachineDeployment',
  plural: 'captmachinedeployments',
  description: 'Keeps so many CAPTMachines, and replaces them step by step when their template changes.',
  spec: () =>
    object(
      {
        clusterName: clusterName(),
        replicas: replicas().default(1).describe('How many machines there should be.'),
        selector: labelSelector().optional().describe('Which machines belong to it. Omitted: those it makes.'),
        template: machineTemplate(),
        strategy: strategy()
          .optional()
          .describe('How machines are replaced. Omitted: RollingUpdate, one more at a time.'),
        minReadySeconds: integer({ min: 0, max: 86_400 })
          .default(0)
          .describe('Seconds a machine must have been ready before it counts as available.'),
        revisionHistoryLimit: integer({ min: 0, max: 100 })
          .default(10)
          .describe('How many old CAPTMachineSets are kept.'),
        paused: flag().default(false).describe('While true, a changed template changes no machine.'),
        progressDeadlineSeconds: integer({ min: 1, max: 604_800 })
          .default(600)
          .describe(
            'Seconds without progress after which a condition says that the change is stuck. It goes on all the same.',
          ),
      },
      [
        ...selectorFindsItsOwn,
        {
          cel: 'self.progressDeadlineSeconds > self.minReadySeconds',
          message: 'progressDeadlineSeconds must be greater than minReadySeconds, or every change would count as stuck',
          holds: (self) => self.progressDeadlineSeconds > self.minReadySeconds,
        },
      ],
    ).describe('How many machines, of what, and how they are replaced.'),
  status: () =>
    object({
      ...statusBasics(),
      ...scaleStatus(),
      updatedReplicas: count('How many of them are of the present template.'),
      unavailableReplicas: count('How many are missing.'),
      collisionCount: count('How often a name was taken.'),
      ...failure(),
    })
      .optional()
      .describe('How many there are, and how far the change is.'),
  words: {
    Available: { Available: 'True', NotAvailable: 'False' },
    Progressing: { Progressing: 'True', Complete: 'True', ProgressDeadlineExceeded: 'False', Paused: 'Unknown' },
    ...shared,
  },
  columns: [
    ...replicaColumns,
    {
      name: 'Updated',
      type: 'integer',
      jsonPath: '.status.updatedReplicas',
      description: 'How many are of the present template.',
    },
    ...conditionColumns('Progressing').map((column) => ({ ...column, wide: true as const })),
    age,
  ],
  scale,
  readBy: 'machinedeployment',
})
export type CAPTMachineDeployment = ObjectOf<typeof CAPTMachineDeployment>
