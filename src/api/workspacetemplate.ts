// WorkspaceTemplate: a Terraform module with its variables. Its `template.spec` is the spec of a Workspace.
import { namespaceName, nameToFill, secretRef, statusBasics, tags } from './fields.ts'
import { age, conditionColumns, groups, kind, type ObjectOf } from './kind.ts'
import { anything, flag, integer, json, list, listBy, object, oneOf, open, type Rule, set, text } from './schema.ts'
import { workspaceGroups } from './workspace.ts'

export const terraformName = () =>
  text({
    min: 1,
    max: 128,
    matches: {
      pattern: '^[A-Za-z_][A-Za-z0-9_-]*$',
      message: 'write the name of a Terraform variable: letters, digits, _ and -, beginning with a letter or _',
    },
  })

const keyRef = (what: string) =>
  object({
    name: nameToFill().describe(`Name of the ${what}. It may hold placeholders.`),
    namespace: namespaceName()
      .optional()
      .describe(`Its namespace. Not read where Workspaces are namespaced: there it is the Workspace's own.`),
    key: text({ min: 1, max: 253 }).describe('Key in it.'),
  })

const args = (command: string) =>
  list(text({ max: 1024 }).describe('An argument.'), { max: 32 })
    .optional()
    .describe(`Further arguments of \`${command}\`.`)

const moduleBytes = 204_800

interface Module {
  readonly source: string
  readonly inlineFormat?: string | undefined
}
const moduleRules: Rule<Module>[] = [
  {
    cel: "!has(self.inlineFormat) || self.source == 'Inline'",
    message: 'inlineFormat is for source Inline: remove it',
    holds: (self) => self.inlineFormat === undefined || self.source === 'Inline',
  },
]

const forProvider = () =>
  open(
    {
      source: oneOf('Inline', 'Remote', 'Flux').describe(
        'Where the module is. Inline: in `module` itself. Remote: at the address in `module`. Flux: in the GitRepository or OCIRepository named in `module`.',
      ),
      module: text({ min: 1, max: moduleBytes }).describe(
        'Inline: the text of main.tf, at most 200 KiB. Remote: an address as Terraform modules have it, for example git::https://example.com/network?ref=v1.2.0. Flux: GitRepository::<namespace>/<name>.',
      ),
      inlineFormat: oneOf('HCL', 'JSON')
        .optional()
        .describe('What the text of an inline module is written in. Omitted: HCL.'),
      entrypoint: text({ max: 1024 }).optional().describe('Folder in the module to run in.'),
      vars: list(
        object({
          key: terraformName().describe('Name of the variable.'),
          value: text({ max: 65_536 }).describe('Its value, as text.'),
        }),
        { max: 100 },
      )
        .optional()
        .describe(
          'Variables as text. `variables` of the WorkspaceTemplateApply is the better way: it keeps types and is checked.',
        ),
      varmap: anything().optional().describe('Variables as JSON values.'),
      varFiles: list(
        object({
          source: oneOf('ConfigMapKey', 'SecretKey').describe('Where the file is.'),
          format: oneOf('HCL', 'JSON').optional().describe('What it is written in. Omitted: HCL.'),
          configMapKeyRef: keyRef('ConfigMap').optional().describe('The key of a ConfigMap that holds it.'),
          secretKeyRef: keyRef('Secret').optional().describe('The key of a Secret that holds it.'),
        }),
        { max: 32 },
      )
        .optional()
        .describe('Files of variables.'),
      env: list(
        object({
          name: text({ min: 1, max: 256 }).describe('Name of the environment variable.'),
          value: text({ max: 65_536 }).optional().describe('Its value.'),
          configMapKeyRef: keyRef('ConfigMap').optional().describe('The key of a ConfigMap that holds it.'),
          secretKeyRef: keyRef('Secret').optional().describe('The key of a Secret that holds it.'),
        }),
        { max: 64 },
      )
        .optional()
        .describe('Environment of every Terraform command.'),
      initArgs: args('init'),
      planArgs: args('plan'),
      applyArgs: args('apply'),
      destroyArgs: args('destroy'),
      enableTerraformCLILogging: flag()
        .optional()
        .describe("Whether Terraform's output goes to the log of the engine."),
      remotePullPolicy: oneOf('Always', 'IfNotPresent').optional().describe('How often a remote module is fetched.'),
    },
    moduleRules,
  )

const workspaceSpec = () =>
  object({
    forProvider: forProvider().describe('The module and how it is run. Fields that a newer engine knows are kept.'),
    providerConfigRef: object({
      name: nameToFill().describe('Name of the ProviderConfig. It may hold placeholders.'),
      kind: oneOf('ProviderConfig', 'ClusterProviderConfig')
        .optional()
        .describe('Its kind, where Workspaces are namespaced.'),
      policy: object({
        resolution: oneOf('Required', 'Optional').optional().describe('Deprecated: not read.'),
        resolve: oneOf('Always', 'IfNotPresent').optional().describe('Deprecated: not read.'),
      })
        .optional()
        .describe('Deprecated: not read.'),
    })
      .optional()
      .describe('The ProviderConfig that is used when nothing nearer to the cluster names one.'),
    writeConnectionSecretToRef: secretRef(nameToFill)
      .optional()
      .describe(
        'Secret that the engine writes the outputs to, sensitive ones included. Its name may hold placeholders.',
      ),
    managementPolicies: set(oneOf('*', 'Observe', 'Create', 'Update', 'Delete', 'LateInitialize'), { max: 6 })
      .optional()
      .describe('What the engine may do. Omitted: everything.'),
    deletionPolicy: oneOf('Delete', 'Orphan')
      .optional()
      .describe('Orphan leaves everything in AWS when the Workspace is deleted.'),
    publishConnectionDetailsTo: anything().optional().describe('Deprecated: engines no longer read it.'),
  })

const variable = () =>
  object({
    name: terraformName().describe('Name of the variable, as the module declares it.'),
    type: text({
      min: 1,
      max: 4096,
      matches: {
        pattern: '^(any|string|number|bool|list|set|map|object|tuple)[A-Za-z0-9_ \\n,(){}\\[\\]=:?".-]*$',
        message: 'write a Terraform type such as string or list(string)',
      },
    })
      .default('any')
      .describe(
        'Its type, in the words of Terraform: string, number, bool, list(string), map(number), object({ name = string }), any.',
      ),
    required: flag()
      .default(false)
      .describe('Whether an apply without it waits and says so. A variable with a default is never missing.'),
    default: json().optional().describe('Value when the apply gives none.'),
    description: text({ max: 1024 }).optional().describe('What it is for.'),
    sensitive: flag().default(false).describe('Whether its value is kept out of the Workspace, in a Secret.'),
  })

export const WorkspaceTemplate = kind({
  group: groups.infrastructure,
  kind: 'WorkspaceTemplate',
  plural: 'workspacetemplates',
  shortNames: ['wt'],
  description:
    'A Terraform module and its variables. WorkspaceTemplateApplies apply it. Whoever may write one runs code in the Terraform engine.',
  isMoved: true,
  spec: () =>
    object({
      template: object({
        metadata: object({
          description: text({ max: 1024 }).optional().describe('What the module builds.'),
          version: text({ max: 64 }).optional().describe('Your version of the template, for example 1.4.0.'),
          tags: tags('for those who look for a template; they are not put on anything'),
        })
          .optional()
          .describe('What people should know of the template.'),
        spec: workspaceSpec().describe('The spec of each Workspace made of it.'),
      }).describe('The Workspace to make.'),
      variables: listBy(['name'], variable(), { max: 200 })
        .optional()
        .describe(
          'The variables of the module. When given, an apply with an unknown variable, a missing one or one of the wrong type is told so before Terraform runs.',
        ),
      writeConnectionSecretToRef: secretRef()
        .optional()
        .describe('Secret for the outputs, when template.spec and the apply name none.'),
      workspaceAPI: oneOf(...workspaceGroups)
        .optional()
        .describe('Which engine runs it. Omitted: the one that the manager was started with.'),
    }).describe('The module.'),
  status: () =>
    object({
      ...statusBasics(),
      revision: text({ max: 64 }).optional().describe('Hash of the spec. An apply can pin it in templateRef.revision.'),
      users: object({
        count: integer({ min: 0, max: 1_000_000 }).describe('How many applies use the template.'),
        names: list(text({ max: 253 }).describe('Name of an apply.'), { max: 10 })
          .optional()
          .describe('Some of them.'),
      })
        .optional()
        .describe('Who uses the template. It cannot be deleted while somebody does.'),
      workspaceName: text({ max: 253 }).optional().describe('Deprecated: never written.'),
    })
      .optional()
      .describe('What CAPT says of the template.'),
  words: { Ready: { Valid: 'True', InvalidModule: 'False', InvalidVariables: 'False' } },
  columns: [
    {
      name: 'Version',
      type: 'string',
      jsonPath: '.spec.template.metadata.version',
      description: 'Version of the template.',
    },
    { name: 'Users', type: 'integer', jsonPath: '.status.users.count', description: 'How many applies use it.' },
    ...conditionColumns('Ready'),
    {
      name: 'Description',
      type: 'string',
      jsonPath: '.spec.template.metadata.description',
      description: 'What it builds.',
      wide: true,
    },
    age,
  ],
  readBy: 'workspacetemplateapply', // which makes a Workspace of it
})
export type WorkspaceTemplate = ObjectOf<typeof WorkspaceTemplate>
