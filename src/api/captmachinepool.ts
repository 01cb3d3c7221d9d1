// CAPTMachinePool: an EKS managed node group or a Fargate profile (Cluster API's InfraMachinePool contract), and its template.

import { instanceType } from './captmachine.ts'
import { replicas } from './captmachineset.ts'
import { shared } from './condition.ts'
import { failure, labels, provisioned, statusBasics, subnetId, tags, taints, templateRef } from './fields.ts'
import { age, conditionColumns, groups, kind, type ObjectOf, ofCluster } from './kind.ts'
import { flag, integer, list, object, oneOf, type Rule, set, text } from './schema.ts'
import { templateOf } from './template.ts'

const fields = () => ({
  workspaceTemplateRef: templateRef().describe('The WorkspaceTemplate that builds the pool.'),
  nodeType: oneOf('ManagedNodeGroup', 'Fargate').default('ManagedNodeGroup').describe('What the pool is in EKS.'),
  instanceTypes: set(instanceType(), { max: 20 })
    .optional()
    .describe('EC2 instance types to choose from, for example m7g.large. Omitted: as the template says.'),
  capacityType: oneOf('OnDemand', 'Spot')
    .optional()
    .describe('How instances are paid for. Omitted: as the template says.'),
  scaling: object(
    {
      minSize: replicas().describe('At least so many nodes.'),
      maxSize: integer({ min: 1, max: 10_000 }).describe('At most so many nodes.'),
      desiredSize: replicas()
        .optional()
        .describe("How many nodes there should be. Omitted: the MachinePool's replicas."),
    },
    [
      {
        cel: 'self.minSize <= self.maxSize',
        message: 'minSize must not be greater than maxSize',
        holds: (self) => self.minSize <= self.maxSize,
      },
      {
        cel: '!has(self.desiredSize) || (self.desiredSize >= self.minSize && self.desiredSize <= self.maxSize)',
        message: 'desiredSize must be between minSize and maxSize',
        holds: (self) =>
          self.desiredSize === undefined || (self.desiredSize >= self.minSize && self.desiredSize <= self.maxSize),
      },
    ],
  )
    .optional()
    .describe('Bounds within which the pool grows and shrinks.'),
  subnetIDs: set(subnetId(), { max: 32 })
    .optional()
    .describe('Subnets of the nodes. Omitted: the private subnets of the network.'),
  labels: labels('of the nodes'),
  taints: taints(),
  additionalTags: tags('of the pool and its instances'),
})

interface Pool {
  readonly nodeType: string
  readonly scaling?: object | undefined
  readonly taints?: readonly unknown[] | undefined
  readonly instanceTypes?: readonly unknown[] | undefined
  readonly capacityType?: string | undefined
}

const rules: Rule<Pool>[] = [
  {
    cel: "self.nodeType != 'Fargate' || (!has(self.scaling) && !has(self.taints) && !has(self.instanceTypes) && !has(self.capacityType))",
    message: 'a Fargate profile has no nodes of its own: remove scaling, taints, instanceTypes and capacityType',
    holds: ({ nodeType, ...self }) =>
      nodeType !== 'Fargate' ||
      [self.scaling, self.taints, self.instanceTypes, self.capacityType].every((field) => field === undefined),
  },
]

export const CAPTMachinePool = kind({
  group: groups.infrastructure,
  kind: 'CAPTMachinePool',
  plural: 'captmachinepools',
  description:
    "An EKS managed node group or a Fargate profile. Cluster API's MachinePool names it in spec.template.spec.infrastructureRef.",
  isContract: true,
  spec: () =>
    object(
      {
        ...fields(),
        providerID: text({ min: 1, max: 512 }).optional().describe('Identity of the pool in AWS. Written by CAPT.'),
        providerIDList: list(text({ min: 1, max: 512 }).describe('Identity of an instance.'), { max: 10_000 })
          .optional()
          .describe('Identities of its instances, as their Nodes have them. Written by CAPT; Cluster API reads them.'),
      },
      rules,
    ).describe('What the pool should be.'),
  status: () =>
    object({
      initialization: provisioned(),
      ...statusBasics(),
      ready: flag().optional().describe('Whether the pool has been there. Cluster API 1.14 still reads this one.'),
      replicas: replicas().optional().describe('How many instances there are. Cluster API reads it.'),
      ...failure(),
    })
      .optional()
      .describe('How far the pool is.'),
  words: {
    Ready: { Provisioned: 'True', NotProvisioned: 'False', WaitingForCluster: 'False', Deleting: 'False' },
    ...shared,
  },
  columns: [
    ofCluster,
    { name: 'Type', type: 'string', jsonPath: '.spec.nodeType', description: 'What it is in EKS.' },
    { name: 'Replicas', type: 'integer', jsonPath: '.status.replicas', description: 'How many instances there are.' },
    ...conditionColumns('Ready'),
    age,
  ],
  readBy: 'machinepool',
})
export type CAPTMachinePool = ObjectOf<typeof CAPTMachinePool>

export const CAPTMachinePoolTemplate = templateOf({
  of: CAPTMachinePool,
  description: 'What CAPTMachinePools of a ClusterClass are made of. Changing it changes them in place.',
  about: () => ({}),
  spec: () => object(fields(), rules).describe('The spec of each CAPTMachinePool made of it.'),
  columns: [
    { name: 'Type', type: 'string', jsonPath: '.spec.template.spec.nodeType', description: 'What pools are in EKS.' },
  ],
})
