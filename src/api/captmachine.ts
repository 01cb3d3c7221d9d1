// CAPTMachine: exactly one node (Cluster API's InfraMachine contract when a Machine owns it), and its template.
import { shared } from './condition.ts'
import {
  failure,
  labels,
  namespaceName,
  objectName,
  provisioned,
  statusBasics,
  subnetId,
  tags,
  taints,
  templateRef,
} from './fields.ts'
import { age, conditionColumns, groups, kind, type ObjectOf, ofCluster } from './kind.ts'
import { flag, integer, list, object, oneOf, text } from './schema.ts'
import { templateOf } from './template.ts'

export const clusterName = () =>
  objectName(63).optional().describe('Name of the Cluster. Omitted: as the label cluster.x-k8s.io/cluster-name says.')

export const instanceType = () =>
  text({
    min: 1,
    max: 64,
    matches: { pattern: '^[a-z0-9-]+\\.[a-z0-9-]+$', message: 'write an instance type such as m7g.large' },
  })

// What a machine is made of; the same in every kind that makes machines, or Cluster API could not clone one into another.
const machineFields = () => ({
  workspaceTemplateRef: templateRef().describe('The WorkspaceTemplate that builds the node.'),
  instanceType: instanceType()
    .optional()
    .describe('EC2 instance type, for example m7g.large. Omitted: as the template says.'),
  nodeGroupRef: object({
    name: objectName().describe('Name of the node group.'),
    namespace: namespaceName().optional().describe('Deprecated: not read.'),
  })
    .optional()
    .describe('Node group that the node belongs to; its name is given to the template.'),
  subnetID: subnetId().optional().describe('Subnet of the node. Omitted: one of the private subnets of the network.'),
  labels: labels('of the node'),
  taints: taints(),
  tags: tags('of the instance'),
  additionalTags: tags('of the instance, as other kinds name them; both are put on it'),
  nodeType: oneOf('ManagedNodeGroup', 'Fargate')
    .optional()
    .describe('Deprecated: a machine is one node. Node groups and Fargate profiles are CAPTMachinePools.'),
  scaling: object({
    minSize: integer({ min: 0, max: 10_000 }).describe('Deprecated.'),
    maxSize: integer({ min: 1, max: 10_000 }).describe('Deprecated.'),
    desiredSize: integer({ min: 0, max: 10_000 }).describe('Deprecated.'),
  })
    .optional()
    .describe('Deprecated: a machine is one node. Node groups are CAPTMachinePools.'),
})

// The spec of a CAPTMachine inside a template, a set or a deployment.
export const machineSpec = () => object(machineFields()).describe('The spec of each machine made of it.')

export const CAPTMachine = kind({
  group: groups.infrastructure,
  kind: 'CAPTMachine',
  plural: 'captmachines',
  description: 'Exactly one node of a cluster, built from a WorkspaceTemplate.',
  isContract: true,
  spec: () =>
    object({
      ...machineFields(),
      clusterName: clusterName(),
      providerID: text({ min: 1, max: 512 })
        .optional()
        .describe(
          'Identity of the instance as its Node has it, for example aws:///ap-northeast-1a/i-0123456789abcdef0. Written by CAPT; Cluster API reads it.',
        ),
      failureDomain: text({ min: 1, max: 256 })
        .optional()
        .describe('Availability zone of the node. Omitted: as the Machine says.'),
    }).describe('What the node should be.'),
  status: () =>
    object({
      initialization: provisioned(),
      ...statusBasics(),
      addresses: list(
        object({
          type: oneOf('Hostname', 'ExternalIP', 'InternalIP', 'ExternalDNS', 'InternalDNS').describe(
            'What kind of address it is.',
          ),
          address: text({ min: 1, max: 256 }).describe('The address.'),
        }),
        { max: 128 },
      )
        .optional()
        .describe('Addresses of the node. Cluster API reads them.'),
      failureDomain: text({ max: 256 }).optional().describe('Availability zone that the node is in.'),
      instanceId: text({ max: 64 }).optional().describe('The EC2 instance.'),
      privateIp: text({ max: 64 }).optional().describe('Its private address.'),
      ready: flag().optional().describe('Deprecated: see conditions.'),
      lastTransitionTime: text({ max: 64 }).optional().describe('Deprecated: see conditions.'),
      ...failure(),
    })
      .optional()
      .describe('How far the node is.'),
  words: {
    Ready: {
      Provisioned: 'True',
      NotProvisioned: 'False',
      WaitingForCluster: 'False',
      WaitingForBootstrapData: 'False',
      WaitingForClusterInfrastructureReady: 'False',
      DeprecatedFields: 'False',
      Deleting: 'False',
    },
    UpToDate: { UpToDate: 'True', Outdated: 'False' },
    ...shared,
  },
  columns: [
    ofCluster,
    { name: 'Instance', type: 'string', jsonPath: '.status.instanceId', description: 'Its EC2 instance.' },
    { name: 'Type', type: 'string', jsonPath: '.spec.instanceType', description: 'Its instance type.', wide: true },
    ...conditionColumns('Ready'),
    age,
  ],
  readBy: 'machine',
})
export type CAPTMachine = ObjectOf<typeof CAPTMachine>

export const CAPTMachineTemplate = templateOf({
  of: CAPTMachine,
  description:
    "What CAPTMachines of Cluster API's MachineDeployments are made of. It cannot be changed: make a new one and name it.",
  about: () => ({}),
  spec: machineSpec,
  columns: [
    { name: 'Type', type: 'string', jsonPath: '.spec.template.spec.instanceType', description: 'Instance type.' },
  ],
})
