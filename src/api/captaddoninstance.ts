// CAPTAddonInstance: one add-on on one cluster.
import { shared } from './condition.ts'
import { objectName, statusBasics } from './fields.ts'
import { age, conditionColumns, groups, kind, type ObjectOf } from './kind.ts'
import { object, oneOf, text } from './schema.ts'

export const CAPTAddonInstance = kind({
  group: groups.infrastructure,
  kind: 'CAPTAddonInstance',
  plural: 'captaddoninstances',
  description: 'One add-on on one cluster. Made by CAPT for each Cluster that a CAPTAddon selects.',
  spec: () =>
    object({
      addonName: objectName(63).describe('Name of the CAPTAddon.'),
      clusterName: objectName(63).describe('Name of the Cluster, in this namespace.'),
    }).describe('Which add-on on which cluster.'),
  status: () =>
    object({
      ...statusBasics(),
      version: text({ max: 64 }).optional().describe('Version that was applied.'),
      stage: oneOf('Waiting', 'Applying', 'Checking', 'Ready').optional().describe('How far it is.'),
    })
      .optional()
      .describe('How far the add-on is on this cluster.'),
  words: {
    Ready: {
      Ready: 'True',
      WaitingForAddon: 'False',
      WaitingForCluster: 'False',
      MissingVariables: 'False',
      Incompatible: 'False',
      Applying: 'False',
      NotHealthy: 'False',
      Failed: 'False',
    },
    ...shared,
  },
  columns: [
    { name: 'Cluster', type: 'string', jsonPath: '.spec.clusterName', description: 'The Cluster.' },
    { name: 'Addon', type: 'string', jsonPath: '.spec.addonName', description: 'The add-on.' },
    { name: 'Version', type: 'string', jsonPath: '.status.version', description: 'Version that was applied.' },
    ...conditionColumns('Ready'),
    age,
  ],
  readBy: 'addons',
})
export type CAPTAddonInstance = ObjectOf<typeof CAPTAddonInstance>
