// CAPTCluster: the network of a cluster (Cluster API's InfraCluster contract), and its template.
import { shared } from './condition.ts'
import {
  deletionProtection,
  destructiveChanges,
  endpoint,
  exactlyOne,
  failure,
  leftToEach,
  needs,
  providerConfigRef,
  provisioned,
  recordedApplyName,
  region,
  retainOnDelete,
  statusBasics,
  subnetId,
  tags,
  templateRef,
  workspaceTemplateStatus,
} from './fields.ts'
import { age, conditionColumns, groups, kind, type ObjectOf, ofCluster } from './kind.ts'
import { flag, keeps, listBy, mapOf, object, type Rule, set, text } from './schema.ts'
import { templateOf } from './template.ts'

const vpcId = () =>
  text({
    min: 1,
    max: 21,
    matches: { pattern: '^vpc-[0-9a-f]{8,17}$', message: 'write a VPC id such as vpc-0123456789abcdef0' },
  })

const built = 'the VPC'

const fields = () => ({
  region: region().describe(
    'AWS region of the network and of the cluster in it, for example ap-northeast-1. It cannot be changed.',
  ),
  vpcTemplateRef: templateRef()
    .optional()
    .describe('The WorkspaceTemplate that builds the VPC. Exactly one of vpcTemplateRef and existingVpcId is set.'),
  existingVpcId: vpcId()
    .optional()
    .describe('A VPC that is there already, and is never changed or deleted by CAPT. It cannot be changed once set.'),
  existingSubnets: object({
    private: set(subnetId(), { max: 32, min: 1 })
      .optional()
      .describe('Subnets for the control plane and the nodes; EKS wants at least two, in two zones.'),
    public: set(subnetId(), { max: 32, min: 1 }).optional().describe('Subnets for public load balancers.'),
  })
    .optional()
    .describe('Subnets of the existing VPC. The control plane needs them: without any it says so and waits.'),
  vpcConfig: object({
    name: text({ min: 1, max: 128 }).optional().describe('Name of the VPC. Omitted: <name of the Cluster>-vpc.'),
  })
    .optional()
    .describe('Settings of the VPC that the template builds.'),
  additionalTags: tags('that the template puts on everything it builds'),
  providerConfigRef: providerConfigRef(),
  deletionProtection: deletionProtection(),
  retainOnDelete: retainOnDelete(built),
  retainVpcOnDelete: flag()
    .optional()
    .describe('Deprecated: the old name of retainOnDelete. Either being true retains.'),
  destructiveChanges: destructiveChanges(),
  controlPlaneEndpoint: endpoint()
    .optional()
    .describe(
      "Address of the cluster's API server. Left unset: it comes from the control plane. The field is here because Cluster API's contract has it.",
    ),
  workspaceTemplateApplyName: recordedApplyName(),
})

interface Network {
  readonly vpcTemplateRef?: object | undefined
  readonly existingVpcId?: string | undefined
  readonly existingSubnets?: object | undefined
  readonly retainVpcOnDelete?: boolean | undefined
}

const rules: Rule<Network>[] = [
  exactlyOne<Network>(
    ['vpcTemplateRef', 'existingVpcId'],
    'set exactly one of vpcTemplateRef (CAPT builds the VPC) and existingVpcId (there is one already)',
  ),
  needs<Network>(
    'existingSubnets',
    'existingVpcId',
    'existingSubnets are subnets of an existing VPC: set existingVpcId too, or remove them',
  ),
  {
    cel: '!has(self.retainVpcOnDelete) || !self.retainVpcOnDelete || has(self.vpcTemplateRef)',
    message: 'an existing VPC is never deleted: remove retainVpcOnDelete',
    holds: (self) => !self.retainVpcOnDelete || self.vpcTemplateRef !== undefined,
  },
]

export const CAPTCluster = kind({
  group: groups.infrastructure,
  kind: 'CAPTCluster',
  plural: 'captclusters',
  description:
    'The network of a cluster: a VPC built from a WorkspaceTemplate, or one that is there already. A Cluster names it in spec.infrastructureRef.',
  isContract: true,
  spec: () =>
    object(fields(), rules, [
      keeps('region', 'the network would have to be built anew. Make a new cluster in the other region'),
      keeps('existingVpcId', 'the cluster lives in it. Make a new cluster in the other VPC'),
    ]).describe('What the network should be.'),
  transitions: [
    {
      cel: '!has(oldSelf.status) || !has(oldSelf.status.vpcId) || !has(self.spec.existingVpcId) || self.spec.existingVpcId == oldSelf.status.vpcId',
      message: 'the cluster lives in the VPC that status.vpcId names: existingVpcId can only be that one',
    },
  ],
  status: () =>
    object({
      initialization: provisioned(),
      ...statusBasics(),
      vpcId: text({ max: 64 }).optional().describe('The VPC.'),
      failureDomains: listBy(
        ['name'],
        object({
          name: text({ min: 1, max: 256 }).describe('Name of the availability zone.'),
          controlPlane: flag().optional().describe('Whether control plane machines may run there.'),
          attributes: mapOf(text({ max: 256 }).describe('Value of the attribute.'), { max: 16, keyMax: 256 })
            .optional()
            .describe('What else is known of the zone.'),
        }),
        { max: 100 },
      )
        .optional()
        .describe('Availability zones of the network. Cluster API reads them.'),
      ready: flag().optional().describe('Deprecated: whether the network is there. See conditions.'),
      vpcWorkspaceName: text({ max: 253 }).optional().describe('Name of the Workspace that builds the VPC.'),
      workspaceTemplateStatus: workspaceTemplateStatus(),
      ...failure(),
    })
      .optional()
      .describe('How far the network is.'),
  words: {
    Ready: { Provisioned: 'True', NotProvisioned: 'False', WaitingForCluster: 'False', Deleting: 'False' },
    VPCReady: {
      VPCCreated: 'True',
      ExistingVPCUsed: 'True',
      VPCCreating: 'False',
      VPCCreationFailed: 'False',
      ApplyMissing: 'False', // it had one, and came back from a backup without it
      InvalidVPCConfig: 'False',
      ProviderConfigChanged: 'False', // which is not followed
      WaitingForCluster: 'False',
    },
    ...shared,
  },
  columns: [
    ofCluster,
    { name: 'Region', type: 'string', jsonPath: '.spec.region', description: 'Its AWS region.' },
    { name: 'VPC-ID', type: 'string', jsonPath: '.status.vpcId', description: 'Its VPC.' },
    ...conditionColumns('Ready'),
    age,
  ],
  readBy: 'captcluster',
})
export type CAPTCluster = ObjectOf<typeof CAPTCluster>

export const CAPTClusterTemplate = templateOf({
  of: CAPTCluster,
  description: 'What CAPTClusters of a ClusterClass are made of. Changing it changes them in place.',
  about: () => ({}),
  spec: () => object({ ...fields(), ...leftToEach(built) }, rules).describe('The spec of each CAPTCluster made of it.'),
  columns: [{ name: 'Region', type: 'string', jsonPath: '.spec.template.spec.region', description: 'AWS region.' }],
})
