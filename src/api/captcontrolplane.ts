// CAPTControlPlane: an EKS control plane (Cluster API's ControlPlane contract), and its template.
import { shared } from './condition.ts'
import {
  cidr,
  deletionProtection,
  destructiveChanges,
  endpoint,
  failure,
  kubernetesVersion,
  leftToEach,
  outputs,
  providerConfigRef,
  recordedApplyName,
  region,
  retainOnDelete,
  statusBasics,
  tags,
  templateRef,
  workspaceTemplateStatus,
} from './fields.ts'
import { age, conditionColumns, groups, kind, type ObjectOf, ofCluster } from './kind.ts'
import { flag, integer, keeps, list, listBy, object, oneOf, open, set, text } from './schema.ts'
import { templateOf } from './template.ts'

const minutes = (byDefault: number, what: string) =>
  integer({ min: 1, max: 1440 })
    .default(byDefault)
    .describe(`Minutes after which a condition says that ${what} takes too long. The work goes on.`)

const endpointAccess = () =>
  object(
    {
      public: flag()
        .optional()
        .describe('Whether the API server is reachable from the internet. Omitted: as the template says.'),
      private: flag()
        .optional()
        .describe('Whether it is reachable from within the VPC. Omitted: as the template says.'),
      publicCIDRs: set(cidr(), { max: 40 })
        .optional()
        .describe('From where it is reachable when it is public. Omitted: from everywhere.'),
    },
    [
      {
        cel: '!(has(self.public) && !self.public && has(self.private) && !self.private)',
        message: 'an API server that is neither public nor private cannot be reached: set one of them to true',
        holds: (self) => !(self.public === false && self.private === false),
      },
      {
        cel: '!has(self.publicCIDRs) || self.publicCIDRs.size() == 0 || !has(self.public) || self.public',
        message: 'publicCIDRs are for a public endpoint: set public to true, or remove them',
        holds: (self) => !self.publicCIDRs?.length || self.public !== false,
      },
    ],
  )

const addons = () =>
  listBy(
    ['name'],
    object({
      name: text({
        min: 1,
        max: 100,
        matches: { pattern: '^[0-9A-Za-z][A-Za-z0-9_-]*$', message: 'write the name of an EKS add-on such as vpc-cni' },
      }).describe('Name of the add-on as EKS knows it, for example vpc-cni.'),
      version: text({ min: 1, max: 64 }).optional().describe('Its version. Omitted: the one EKS recommends.'),
      configurationValues: text({ max: 16_384 })
        .optional()
        .describe("Settings of the add-on, as JSON text in the add-on's own form."),
    }),
    { max: 50 },
  )

const configFields = () => ({
  region: region()
    .optional()
    .describe(
      "AWS region. Omitted: the one of the Cluster's CAPTCluster, and it must be the same. It cannot be changed once set.",
    ),
  endpointAccess: endpointAccess().optional().describe('From where the API server can be reached.'),
  addons: addons().optional().describe('EKS add-ons to install.'),
  timeouts: object({
    controlPlaneTimeout: minutes(30, 'building the control plane'),
    vpcReadyTimeout: minutes(15, 'waiting for the network'),
  })
    .optional()
    .describe('After how long to call something late.'),
  spotServiceLinkedRole: oneOf('Ensure', 'Ignore')
    .default('Ignore')
    .describe(
      "Ensure: the account's service-linked role for EC2 Spot is there before EKS is built. It is shared by the whole account and never deleted with a cluster.",
    ),
  upgradePolicy: oneOf('Standard', 'Extended')
    .optional()
    .describe(
      'What EKS does when standard support of the version ends: Standard upgrades the cluster by itself, Extended keeps it at a higher price. Omitted: as the template says.',
    ),
  serviceIPv4CIDR: cidr()
    .optional()
    .describe(
      'Range of the addresses of Services. Omitted: EKS chooses. It cannot be changed once the cluster is there.',
    ),
})

const kubeconfig = () =>
  object(
    {
      source: oneOf('Auto', 'Template', 'AWS', 'ServiceAccount')
        .default('Auto')
        .describe(
          "Where the kubeconfig comes from. Template: the template's output `kubeconfig`. AWS: a token signed with the manager's AWS identity, renewed every few minutes. ServiceAccount: a token of a ServiceAccount in the cluster, renewed in time; best above 100 clusters. Auto: Template when it is usable, else AWS.",
        ),
      server: text({
        min: 1,
        max: 512,
        matches: {
          pattern: '^https://([A-Za-z0-9.-]+|\\[[0-9A-Fa-f:.]+\\])(:[0-9]{1,5})?$',
          message: 'write an address such as https://10.0.0.1:443',
        },
      })
        .optional()
        .describe('Address to use instead of the one of the cluster, for example of a PrivateLink endpoint.'),
      aws: object({
        roleARN: text({
          min: 1,
          max: 2048,
          matches: {
            pattern: '^arn:aws[a-z-]*:iam::[0-9]{12}:role/[A-Za-z0-9+=,.@_/-]+$',
            message: 'write the ARN of a role such as arn:aws:iam::123456789012:role/capt',
          },
        })
          .optional()
          .describe('Role to assume before signing. Omitted: the identity of the manager.'),
        externalID: text({ min: 2, max: 1224 }).optional().describe('External id that the role asks for.'),
      })
        .optional()
        .describe('How the token is signed with AWS.'),
      serviceAccount: object({
        expirationSeconds: integer({ min: 600, max: 31_536_000 })
          .default(86_400)
          .describe('For how long a token is asked for. The cluster may give less.'),
        bootstrap: oneOf('AWS', 'Template')
          .default('AWS')
          .describe('How to get into the cluster the first time, to ask for the token.'),
      })
        .optional()
        .describe('How the token of the ServiceAccount is asked for.'),
    },
    [
      {
        cel: "!has(self.serviceAccount) || self.source == 'ServiceAccount'",
        message: 'serviceAccount is for source ServiceAccount: set it, or remove serviceAccount',
        holds: (self) => self.serviceAccount === undefined || self.source === 'ServiceAccount',
      },
      {
        cel: "!has(self.aws) || self.source != 'Template'",
        message: 'aws is not read with source Template: remove it, or choose another source',
        holds: (self) => self.aws === undefined || self.source !== 'Template',
      },
    ],
  )

const nameInEks = '^[0-9A-Za-z][A-Za-z0-9_-]*$'

// A Cluster may be called otherwise: with dots.
export function isNameInEks(name: string): boolean {
  return name.length <= 100 && new RegExp(nameInEks).test(name)
}

const eksClusterName = () =>
  text({
    min: 1,
    max: 100,
    matches: {
      pattern: nameInEks,
      message: 'write a name as EKS allows it: letters, digits, - and _, beginning with a letter or digit',
    },
  })

const built = 'the EKS cluster (and its network)'

const commonFields = () => ({
  workspaceTemplateRef: templateRef().describe('The WorkspaceTemplate that builds the control plane.'),
  additionalTags: tags('that the template puts on everything it builds'),
  controlPlaneEndpoint: endpoint()
    .optional()
    .describe('Address of the API server. Written by CAPT when it is known; Cluster API copies it to the Cluster.'),
  eksClusterName: eksClusterName()
    .optional()
    .describe(
      'Name of the cluster in EKS. Omitted: the name of the Cluster, written here at the first apply. It cannot be changed once set.',
    ),
  providerConfigRef: providerConfigRef(),
  deletionProtection: deletionProtection(),
  retainOnDelete: retainOnDelete(built),
  destructiveChanges: destructiveChanges(),
  kubeconfig: kubeconfig().optional().describe('How the kubeconfigs of the cluster are made.'),
  workspaceTemplateApplyName: recordedApplyName(),
})

const version = () =>
  kubernetesVersion().describe(
    'Kubernetes version, for example v1.34.0; EKS takes its first two parts. Raising it upgrades the cluster, one minor version at a time.',
  )

const config = 'Settings of the control plane, given to the template as variables.'

export const CAPTControlPlane = kind({
  group: groups.controlPlane,
  kind: 'CAPTControlPlane',
  plural: 'captcontrolplanes',
  description: 'An EKS control plane, built from a WorkspaceTemplate. A Cluster names it in spec.controlPlaneRef.',
  isContract: true,
  spec: () =>
    object(
      {
        version: version(),
        controlPlaneConfig: object(configFields()).optional().describe(config),
        ...commonFields(),
      },
      [],
      [
        keeps('eksClusterName', 'EKS cannot rename a cluster. Make a new one'),
        keeps(
          'controlPlaneConfig.region',
          'the cluster would have to be built anew. Make a new cluster in the other region',
        ),
        keeps('controlPlaneConfig.serviceIPv4CIDR', 'EKS cannot change it. Make a new cluster'),
      ],
    ).describe('What the control plane should be.'),
  transitions: [
    {
      cel: '!has(oldSelf.status) || !has(oldSelf.status.version) || !has(self.spec.controlPlaneConfig) || !has(self.spec.controlPlaneConfig.serviceIPv4CIDR) || (has(oldSelf.spec.controlPlaneConfig) && has(oldSelf.spec.controlPlaneConfig.serviceIPv4CIDR))',
      message:
        'controlPlaneConfig.serviceIPv4CIDR cannot be set any more: the cluster is there, with a range that EKS cannot change. Make a new cluster',
    },
  ],
  status: () =>
    object({
      initialization: object({
        controlPlaneInitialized: flag()
          .optional()
          .describe('True once the API server has answered for the first time. It never goes back.'),
      })
        .optional()
        .describe('How far the first provisioning is. Cluster API reads it.'),
      ...statusBasics(),
      externalManagedControlPlane: flag()
        .optional()
        .describe('True: AWS runs the control plane, there are no machines for it. Cluster API reads it.'),
      version: text({ max: 64 }).optional().describe('Version that the cluster runs. Cluster API reads it.'),
      versions: list(
        object({
          version: text({ min: 1, max: 64 }).describe('A version.'),
          replicas: integer({ min: 0, max: 1000 }).optional().describe('How many run it.'),
        }),
        { max: 8 },
      )
        .optional()
        .describe(
          'Versions that the cluster runs, oldest first. EKS tells of one at a time, also while it is upgraded. Cluster API reads them.',
        ),
      template: object({
        name: text({ max: 253 }).optional().describe('Name of the CAPTControlPlaneTemplate.'),
        description: text({ max: 1024 }).optional().describe('Its description.'),
        templateVersion: text({ max: 64 }).optional().describe('Its version.'),
      })
        .optional()
        .describe('The template it was made of, when it was.'),
      workspaceStatus: object({
        ready: flag().optional().describe('Whether the Workspace is ready.'),
        state: text({ max: 256 }).optional().describe('Why.'),
        atProvider: open({ outputs: outputs() })
          .optional()
          .describe(
            "What the engine says of the Workspace. `outputs` holds Terraform's outputs that are not sensitive.",
          ),
      })
        .optional()
        .describe('The Workspace that builds the control plane.'),
      workspaceTemplateStatus: workspaceTemplateStatus(),
      phase: oneOf('Creating', 'Ready', 'Failed').optional().describe('Deprecated: see conditions.'),
      ready: flag().optional().describe('Deprecated: see condition Available.'),
      initialized: flag().optional().describe('Deprecated: see initialization.'),
      secretsReady: flag().optional().describe('Deprecated: see condition SecretsReady.'),
      ...failure(),
    })
      .optional()
      .describe('How far the control plane is.'),
  words: {
    Available: {
      Available: 'True',
      NotCreated: 'False',
      ConnectionIncomplete: 'False',
      NotAnswering: 'False',
      WaitingForCluster: 'False',
      WaitingForClusterInfrastructureReady: 'False',
      Deleting: 'False',
    },
    Ready: { Ready: 'True', NotReady: 'False', WaitingForCluster: 'False', Deleting: 'False' },
    EKSApplied: {
      Converged: 'True',
      WaitingForClusterInfrastructureReady: 'False',
      WaitingForSpotRole: 'False',
      NetworkMissing: 'False', // the Cluster names one of ours, and it is not there
      SubnetsMissing: 'False', // of an existing VPC
      ApplyMissing: 'False', // it had one, and came back from a backup without it
      Applying: 'False',
      TerraformFailed: 'False',
      ApprovalRequired: 'False',
      VPCReadyTimeout: 'False', // it still waits for the network
      ControlPlaneTimeout: 'False', // Terraform is still at work
      NotApplied: 'False', // Terraform was not even asked
      NameTaken: 'False', // of the apply
      NameClaimed: 'False',
      NameInvalid: 'False', // EKS allows none like it
      RegionMismatch: 'False',
      DowngradeNotAllowed: 'False',
      ProviderConfigChanged: 'False', // which is not followed
    },
    SecretsReady: { Ready: 'True', WaitingForSecret: 'False', ValidatingSecret: 'False', Failed: 'False' },
    EndpointReady: { Known: 'True', Unknown: 'False', Changed: 'True' },
    SpotRoleReady: { Ensured: 'True', Ignored: 'True', Creating: 'False', Failed: 'False' },
    RollingOut: { RollingOut: 'True', NotRollingOut: 'False' },
    ...shared,
    Deleting: {
      ...shared.Deleting,
      WaitingForCleanup: 'True', // what was made inside of the cluster goes first
      CleanupTimeout: 'True', // it still waits for that
    },
  },
  columns: [
    ofCluster,
    { name: 'Version', type: 'string', jsonPath: '.status.version', description: 'The Kubernetes version it runs.' },
    {
      name: 'Wanted',
      type: 'string',
      jsonPath: '.spec.version',
      description: 'The version it should run.',
      wide: true,
    },
    {
      name: 'Endpoint',
      type: 'string',
      jsonPath: '.spec.controlPlaneEndpoint.host',
      description: 'Where its API server is.',
      wide: true,
    },
    {
      name: 'Template',
      type: 'string',
      jsonPath: '.status.template.templateVersion',
      description: 'Version of the template it was made of.',
      wide: true,
    },
    ...conditionColumns('Available'),
    age,
  ],
  readBy: 'controlplane',
})
export type CAPTControlPlane = ObjectOf<typeof CAPTControlPlane>

export const CAPTControlPlaneTemplate = templateOf({
  of: CAPTControlPlane,
  description: 'What CAPTControlPlanes of a ClusterClass are made of. Changing it changes them in place.',
  about: () => ({
    description: text({ max: 1024 })
      .optional()
      .describe('What the template is for, for those who choose one. Shown on every control plane made of it.'),
    templateVersion: text({ max: 64 })
      .optional()
      .describe('Your version of the template, for example 1.4.0. Shown on every control plane made of it.'),
  }),
  spec: () =>
    object({
      version: version().optional(),
      controlPlaneConfig: object(configFields()).optional().describe(config),
      ...commonFields(),
      ...leftToEach(built),
    }).describe('The spec of each CAPTControlPlane made of it. Cluster API fills in the version.'),
  columns: [
    { name: 'Version', type: 'string', jsonPath: '.spec.templateVersion', description: 'Version of the template.' },
    { name: 'Description', type: 'string', jsonPath: '.spec.description', description: 'What it is for.' },
  ],
})
export type CAPTControlPlaneTemplate = ObjectOf<typeof CAPTControlPlaneTemplate>
