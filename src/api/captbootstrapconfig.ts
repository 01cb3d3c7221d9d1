// CAPTBootstrapConfig: does nothing, because EKS nodes bootstrap themselves; ClusterClass and MachineDeployment demand one.
import { shared } from './condition.ts'
import { statusBasics } from './fields.ts'
import { age, conditionColumns, groups, kind, type ObjectOf, ofCluster } from './kind.ts'
import { flag, object, text } from './schema.ts'
import { templateOf } from './template.ts'

const nothing = () => object({}).optional().describe('Nothing: EKS nodes bootstrap themselves.')

export const CAPTBootstrapConfig = kind({
  group: groups.bootstrap,
  kind: 'CAPTBootstrapConfig',
  plural: 'captbootstrapconfigs',
  description:
    'Satisfies Cluster API where it demands a bootstrap provider. It does nothing: EKS nodes bootstrap themselves.',
  isContract: true,
  spec: nothing,
  status: () =>
    object({
      initialization: object({
        dataSecretCreated: flag().optional().describe('True once the (empty) Secret is there. Cluster API reads it.'),
      })
        .optional()
        .describe('How far the first provisioning is.'),
      dataSecretName: text({ max: 253 }).optional().describe('Name of the Secret. Cluster API reads it.'),
      ...statusBasics(),
    })
      .optional()
      .describe('What Cluster API asks for.'),
  words: { Ready: { Ready: 'True', WaitingForCluster: 'False', NameTaken: 'False' }, ...shared },
  columns: [ofCluster, ...conditionColumns('Ready'), age],
  readBy: 'bootstrapconfig',
})
export type CAPTBootstrapConfig = ObjectOf<typeof CAPTBootstrapConfig>

export const CAPTBootstrapConfigTemplate = templateOf({
  of: CAPTBootstrapConfig,
  description: 'What CAPTBootstrapConfigs are made of. It cannot be changed, and there is nothing to change.',
  about: () => ({}),
  spec: nothing,
})
