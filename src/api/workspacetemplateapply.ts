// WorkspaceTemplateApply: one application of a WorkspaceTemplate.
import { shared } from './condition.ts'
import {
  deletionProtection,
  destructiveChanges,
  exactlyOne,
  namespaceName,
  objectName,
  outputs,
  providerConfigRef,
  retainOnDelete,
  secretRef,
  statusBasics,
} from './fields.ts'
import { age, conditionColumns, groups, kind, type ObjectOf } from './kind.ts'
import { flag, list, listBy, mapOfJson, object, oneOf, text } from './schema.ts'
import { terraformName } from './workspacetemplate.ts'

const keyOf = (what: string) =>
  object({
    name: objectName().describe(`Name of the ${what}, in this namespace.`),
    key: text({ min: 1, max: 253 }).describe('Key in it.'),
    format: oneOf('Text', 'JSON')
      .default('Text')
      .describe('Text: the value is the text. JSON: the value is what the text says in JSON.'),
  })

const variableFrom = () =>
  object(
    {
      name: terraformName().describe('Name of the variable.'),
      apply: object({
        name: objectName().describe('Name of the WorkspaceTemplateApply, in this namespace.'),
        output: text({
          min: 1,
          max: 253,
          matches: {
            pattern: '^[A-Za-z0-9_-]+(\\.[A-Za-z0-9_-]+)*$',
            message: 'write the path of an output such as vpc_id or karpenter.queue_name',
          },
        }).describe(
          'Path of the output, for example vpc_id or karpenter.queue_name. Sensitive outputs can be read too.',
        ),
      })
        .optional()
        .describe('An output of another apply, which is waited for.'),
      secret: keyOf('Secret').optional().describe('A key of a Secret. Its value never appears in a Workspace.'),
      configMap: keyOf('ConfigMap').optional().describe('A key of a ConfigMap.'),
      optional: flag()
        .default(false)
        .describe('When true, the variable is left out while its source is missing; else it is waited for.'),
    },
    [exactlyOne(['apply', 'secret', 'configMap'], 'a variable comes from exactly one of apply, secret and configMap')],
  )

const waits = {
  WaitingForSecrets: 'False',
  WaitingForWorkspaces: 'False',
  DependencyFailed: 'False',
  DependencyCycle: 'False',
} as const

const refusals = {
  TemplateNotFound: 'False',
  TemplateNotReady: 'False',
  MissingVariables: 'False',
  UnknownVariables: 'False',
  InvalidVariables: 'False',
  UnsafeValue: 'False',
  CrossNamespaceReference: 'False',
} as const

const unfinished = {
  Waiting: 'False', // Terraform was not asked for anything yet
  WaitingForCluster: 'False', // it came back before what it is for
  NoEngine: 'False',
  AmbiguousEngine: 'False',
  NameTaken: 'False',
  WorkspaceDeleted: 'False', // by hand: it is made again
  RevisionGone: 'False', // the template has not the revision that is pinned, and there is no Workspace yet
  Planning: 'False',
  Creating: 'False',
  Applying: 'False',
  TerraformFailed: 'False',
  ApprovalRequired: 'False',
  AdoptionFrozen: 'False',
  ApplyInterrupted: 'False',
  EngineSilent: 'False',
  StateMissing: 'False',
} as const

// Reasons for which it stands still until somebody changes something, and those for which it waits for somebody's word.
export const applyFailures = [
  'TerraformFailed',
  'DependencyCycle',
  ...Object.keys(refusals),
  'NoEngine',
  'AmbiguousEngine',
  'NameTaken',
  'RevisionGone',
  'EngineSilent',
  'StateMissing',
]
export const applyHolds = ['ApprovalRequired', 'AdoptionFrozen', 'ApplyInterrupted']

// Where it cannot be known whether all is applied, it is not ready.
const undecided = { PlanOnly: 'False', Paused: 'False' } as const

export const WorkspaceTemplateApply = kind({
  group: groups.infrastructure,
  kind: 'WorkspaceTemplateApply',
  plural: 'workspacetemplateapplies',
  shortNames: ['wtapply'],
  description:
    'One application of a WorkspaceTemplate: a Workspace with its variables filled in, kept as the template says.',
  spec: () =>
    object({
      templateRef: object({
        name: objectName().describe('Name of the WorkspaceTemplate.'),
        namespace: namespaceName()
          .optional()
          .describe(
            'Omitted: the namespace of this object. Another namespace is refused unless the manager was started with --allow-cross-namespace-refs.',
          ),
        revision: text({ min: 1, max: 64 })
          .optional()
          .describe(
            'Revision of the template to stay at. While the template has another, nothing is changed and a condition says so. Omitted: follow the template.',
          ),
      }).describe('The template to apply.'),
      variables: mapOfJson({ max: 200 }).optional().describe('Variables of the module, values of any type.'),
      variablesFrom: listBy(['name'], variableFrom(), { max: 100 })
        .optional()
        .describe(
          'Variables whose values are elsewhere in this namespace: outputs of other applies, Secrets, ConfigMaps. A changed value is applied.',
        ),
      waitForSecrets: list(secretRef(), { max: 32 })
        .optional()
        .describe('Secrets that must be there before Terraform runs.'),
      waitForWorkspaces: list(
        object({
          name: objectName().describe('Name of an apply in this namespace, else of a Workspace.'),
          namespace: namespaceName().optional().describe('Deprecated: not read.'),
        }),
        { max: 32 },
      )
        .optional()
        .describe('Applies that must have converged before Terraform runs.'),
      writeConnectionSecretToRef: secretRef().optional().describe("Secret for the outputs, instead of the template's."),
      providerConfigRef: providerConfigRef(),
      deletionProtection: deletionProtection(),
      retainOnDelete: retainOnDelete('everything that Terraform built'),
      retainWorkspaceOnDelete: flag()
        .optional()
        .describe('Deprecated: the old name of retainOnDelete. Either being true retains.'),
      destructiveChanges: destructiveChanges(),
    }).describe('What to apply, with which values.'),
  status: () =>
    object({
      ...statusBasics(),
      workspaceName: text({ max: 253 }).optional().describe('Name of the Workspace.'),
      workspaceAPI: text({ max: 253 }).optional().describe('Group of the API it was made in.'),
      revision: text({ max: 64 }).optional().describe('Revision that has converged.'),
      applied: flag().optional().describe('Whether it has ever converged.'),
      lastAppliedTime: text({ max: 64 }).optional().describe('When it converged last.'),
      applyingSince: text({ max: 64 })
        .optional()
        .describe('When the run of Terraform began that is under way now, where the engine tells.'),
      failure: object({
        class: text({ max: 64 }).describe(
          'What kind of trouble it is: quota, credentials, dependency, timeout, lock, syntax or unknown.',
        ),
        text: text({ max: 65_536 }).describe('Everything Terraform printed of it, without secrets, at most 64 KiB.'),
      })
        .optional()
        .describe('Why the last run of Terraform failed, in full. Gone when it works again.'),
      outputs: outputs(),
    })
      .optional()
      .describe('How far the application is.'),
  words: {
    // Says what is worth reading of the three below: whichever is not True, in its own words.
    Ready: { Ready: 'True', Deleting: 'False', ...waits, ...refusals, ...unfinished, ...undecided },
    DependenciesReady: { Ready: 'True', ...waits },
    VariablesResolved: { Resolved: 'True', ...refusals },
    Applied: {
      Converged: 'True',
      RevisionPinned: 'True',
      ...unfinished,
      Destroying: 'False',
      PlanOnly: 'Unknown',
      Paused: 'Unknown',
    },
    Drifted: { Drifted: 'True', InSync: 'False' },
    Synced: { ReconcileSuccess: 'True', ReconcileError: 'False', ReconcilePaused: 'False' },
    ...shared,
    Deleting: { ...shared.Deleting, WaitingForCleanup: 'True' },
  },
  columns: [
    { name: 'Template', type: 'string', jsonPath: '.spec.templateRef.name', description: 'The template.' },
    { name: 'Workspace', type: 'string', jsonPath: '.status.workspaceName', description: 'The Workspace.', wide: true },
    ...conditionColumns('Ready'),
    {
      name: 'Applying',
      type: 'date',
      jsonPath: '.status.applyingSince',
      description: 'How long Terraform has been at work.',
    },
    age,
  ],
  readBy: 'workspacetemplateapply',
})
export type WorkspaceTemplateApply = ObjectOf<typeof WorkspaceTemplateApply>
