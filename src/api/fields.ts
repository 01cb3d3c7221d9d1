// Fields that several kinds have, each said once.
import { conditions } from './condition.ts'
import { anything, flag, integer, list, listBy, mapOf, object, oneOf, type Rule, text } from './schema.ts'

const nameOfObject = '^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$'

export const objectName = (max = 253) =>
  text({
    min: 1,
    max,
    matches: {
      pattern: nameOfObject,
      message: 'write the name of an object: lower-case letters, digits, - and .',
    },
  })

export function isObjectName(name: string): boolean {
  return name.length <= 253 && new RegExp(nameOfObject).test(name)
}

// In a template, where parts of it may be filled in. Written with braces apart: clusterctl would take them for a variable of its own.
export const nameToFill = () =>
  text({
    min: 1,
    max: 253,
    matches: {
      pattern: '^([a-z0-9.-]|\\$\\{[A-Za-z_][A-Za-z0-9_-]*\\})+$',
      message: 'write the name of an object: lower-case letters, digits, - and ., and placeholders of variables',
    },
  })

export const namespaceName = () =>
  text({
    min: 1,
    max: 63,
    matches: {
      pattern: '^[a-z0-9]([a-z0-9-]*[a-z0-9])?$',
      message: 'write the name of a namespace: lower-case letters, digits and -',
    },
  })

const otherNamespace =
  'Omitted: the namespace of this object, which is where it should be. Another namespace is refused unless the manager was started with --allow-cross-namespace-refs.'

export const templateRef = () =>
  object({
    name: objectName().describe('Name of the WorkspaceTemplate.'),
    namespace: namespaceName().optional().describe(otherNamespace),
  })

export const secretRef = (name = objectName) =>
  object({
    name: name().describe('Name of the Secret.'),
    namespace: namespaceName().optional().describe(otherNamespace),
  })

export const providerConfigRef = () =>
  object({
    kind: oneOf('ProviderConfig', 'ClusterProviderConfig')
      .default('ClusterProviderConfig')
      .describe(
        'ProviderConfig is one of this namespace, ClusterProviderConfig one for all. Not read where the Workspace API is cluster-scoped, which has only ProviderConfigs for all.',
      ),
    name: objectName().describe('Name of the ProviderConfig, which holds the credentials of an AWS account.'),
  })
    .optional()
    .describe(
      'Which account and credentials Terraform uses, so that one template serves many accounts. Omitted: what the template says, else "default".',
    )

// AWS allows 50 tags on a resource, keys of 128 and values of 256 characters.
export const tags = (what: string) =>
  mapOf(text({ max: 256 }).describe('Value of the tag.'), { max: 50, keyMax: 128 })
    .optional()
    .describe(`Tags ${what}.`)

export const labels = (what: string) =>
  mapOf(
    text({
      max: 63,
      matches: {
        pattern: '^([A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?)?$',
        message: 'a label value has at most 63 letters, digits, -, _ and .',
      },
    }).describe('Value of the label.'),
    { max: 64, keyMax: 317 },
  )
    .optional()
    .describe(`Labels ${what}.`)

export const annotations = (what: string) =>
  mapOf(text({ max: 65_536 }).describe('Value of the annotation.'), { max: 64, keyMax: 317 })
    .optional()
    .describe(`Annotations ${what}.`)

// Regions of every partition: ap-northeast-1, us-gov-west-1, us-isob-east-1, cn-northwest-1, eusc-de-east-1.
export const region = () =>
  text({
    min: 1,
    max: 32,
    matches: {
      pattern: '^[a-z]{2,4}(-[a-z]{2,5})?-[a-z]+-[0-9]{1,2}$',
      message: 'write an AWS region such as ap-northeast-1 or us-gov-west-1',
    },
  })

export const subnetId = () =>
  text({
    min: 1,
    max: 24,
    matches: { pattern: '^subnet-[0-9a-f]{8,17}$', message: 'write a subnet id such as subnet-0123456789abcdef0' },
  })

const ipv4 = '(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])'
export const cidr = () =>
  text({
    min: 1,
    max: 43,
    matches: {
      pattern: `^(${ipv4}(\\.${ipv4}){3}/(3[0-2]|[12]?[0-9])|[0-9a-f:]{2,39}/(12[0-8]|1[01][0-9]|[1-9]?[0-9]))$`,
      message: 'write a range such as 203.0.113.0/24',
    },
  })

// v1.34.0 as Cluster API writes it, 1.34 as EKS does.
export const kubernetesVersion = () =>
  text({
    min: 1,
    max: 32,
    matches: {
      pattern: '^v?1\\.[0-9]{1,3}(\\.[0-9]{1,4})?$',
      message: 'write a Kubernetes version such as v1.34.0 or 1.34',
    },
  })

export const endpoint = () =>
  object({
    host: text({
      min: 1,
      max: 512,
      matches: {
        pattern: '^[A-Za-z0-9.:-]+$',
        message: 'write a host name or address without https:// and without a path',
      },
    }).describe('Host name or address, without scheme and path.'),
    port: integer({ min: 1, max: 65_535 }).describe('Port, usually 443.'),
  })

// A key as labels and taints have it, with or without a domain before it.
export const qualifiedKey = (message: string) =>
  text({ min: 1, max: 317, matches: { pattern: '^[A-Za-z0-9]([A-Za-z0-9_./-]*[A-Za-z0-9])?$', message } })

export const taints = () =>
  listBy(
    ['key', 'effect'],
    object({
      key: qualifiedKey('write a taint key such as example.com/dedicated').describe('Key of the taint.'),
      value: text({ max: 63 }).optional().describe('Value of the taint.'),
      effect: oneOf('NoSchedule', 'PreferNoSchedule', 'NoExecute').describe(
        'What happens to Pods that do not tolerate it.',
      ),
    }),
    { max: 50 },
  )
    .optional()
    .describe('Taints of the nodes.')

const protection =
  'While true, deleting this object is refused, and so is deleting the Cluster that owns it. Set it to false first.'
const retention = (what: string) => `When true, deleting this object leaves ${what} in AWS, with its Terraform state.`

export const deletionProtection = () => flag().default(false).describe(protection)
export const retainOnDelete = (what: string) => flag().default(false).describe(retention(what))

// The same in a template, where nothing is filled in: what Cluster API was not told, it does not keep, and each object can be told by hand.
export const leftToEach = (what: string) => ({
  deletionProtection: flag().optional().describe(protection),
  retainOnDelete: flag().optional().describe(retention(what)),
})

// No default: with Crossplane, holding is for those who ask for it.
export const destructiveChanges = () =>
  oneOf('Hold', 'Allow')
    .optional()
    .describe(
      'Hold: a change whose plan deletes or replaces something in AWS waits for approval, and a condition says how to approve it. Allow: it is applied at once. Omitted: Hold for what belongs to a cluster and is run by the engine of CAPT, else Allow.',
    )

export const recordedApplyName = () =>
  objectName()
    .optional()
    .describe(
      'Deprecated: written by the predecessor to find its WorkspaceTemplateApply again. Read for adoption, never written.',
    )

export const observedGeneration = () =>
  integer({ min: 0, max: Number.MAX_SAFE_INTEGER })
    .optional()
    .describe('The metadata.generation that this status was written for.')

// What every status has.
export const statusBasics = () => ({ observedGeneration: observedGeneration(), conditions: conditions() })

// Old status fields that scripts may still read.
export const failure = () => ({
  failureReason: text({ max: 256 }).optional().describe('Deprecated: see conditions.'),
  failureMessage: text({ max: 32_768 }).optional().describe('Deprecated: see conditions.'),
})

export const workspaceTemplateStatus = () =>
  object({
    ready: flag().optional().describe('Whether the apply has converged.'),
    state: text({ max: 256 }).optional().describe('Deprecated: see conditions.'),
    workspaceName: text({ max: 253 }).optional().describe('Name of the Workspace.'),
    lastAppliedRevision: text({ max: 256 }).optional().describe('Revision that was applied last.'),
    lastAppliedTime: text({ max: 64 }).optional().describe('When that was.'),
    lastFailedRevision: text({ max: 256 }).optional().describe('Revision that failed last.'),
    lastFailureMessage: text({ max: 32_768 }).optional().describe("Terraform's own error, in one line."),
  })
    .optional()
    .describe('How far the WorkspaceTemplateApply of this object is.')

export const outputs = () =>
  anything().optional().describe('Outputs of the Terraform module that are not sensitive, at most 64 KiB of them.')

const selectorExpression = () =>
  object({
    key: text({ min: 1, max: 317 }).describe('Key of the label.'),
    operator: oneOf('In', 'NotIn', 'Exists', 'DoesNotExist').describe('How the label is compared with the values.'),
    values: list(text({ max: 63 }).describe('A value.'), { max: 32 })
      .optional()
      .describe('Values to compare with; for In and NotIn.'),
  })

export const labelSelector = () =>
  object({
    matchLabels: labels('that must be there'),
    matchExpressions: list(selectorExpression(), { max: 16 }).optional().describe('Conditions that must all hold.'),
  })

// Metadata that core puts on what it makes of a template.
export const templateMetadata = () =>
  object({ labels: labels('of each object made of it'), annotations: annotations('of each object made of it') })
    .optional()
    .describe('Labels and annotations of each object made of this template.')

export const provisioned = () =>
  object({
    provisioned: flag()
      .optional()
      .describe(
        'True once everything was there for the first time. It never goes back: later troubles are told by conditions.',
      ),
  })
    .optional()
    .describe('How far the first provisioning is. Cluster API reads it.')

// Exactly one of these fields is set.
export function exactlyOne<T extends object>(fields: readonly (keyof T & string)[], message: string): Rule<T> {
  return {
    cel: `[${fields.map((field) => `has(self.${field})`).join(', ')}].filter(set, set).size() == 1`,
    message,
    holds: (self) => fields.filter((field) => self[field] !== undefined).length === 1,
  }
}

// `field` makes sense only with `other`.
export function needs<T extends object>(field: keyof T & string, other: keyof T & string, message: string): Rule<T> {
  return {
    cel: `!has(self.${field}) || has(self.${other})`,
    message,
    holds: (self) => self[field] === undefined || self[other] !== undefined,
  }
}
