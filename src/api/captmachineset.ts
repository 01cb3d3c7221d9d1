// CAPTMachineSet: so many CAPTMachines.

import { clusterName, machineSpec } from './captmachine.ts'
import { shared } from './condition.ts'
import { failure, labelSelector, statusBasics, templateMetadata } from './fields.ts'
import { age, type Column, groups, kind, type ObjectOf, ofCluster, type Scale } from './kind.ts'
import { integer, object, type Rule, text } from './schema.ts'

export const replicas = () => integer({ min: 0, max: 10_000 })
export const count = (what: string) => integer({ min: 0, max: 1_000_000 }).optional().describe(what)

interface Expression {
  readonly key: string
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist'
  readonly values?: readonly string[] | undefined
}
interface Selecting {
  readonly selector?:
    | {
        readonly matchLabels?: Readonly<Record<string, string>> | undefined
        readonly matchExpressions?: readonly Expression[] | undefined
      }
    | undefined
  readonly template: {
    readonly metadata?: { readonly labels?: Readonly<Record<string, string>> | undefined } | undefined
  }
}

// The same of `each` expression, in CEL.
const hasLabels = 'has(self.template.metadata) && has(self.template.metadata.labels)'
const isThere = `${hasLabels} && each.key in self.template.metadata.labels`
const isAmong = `${isThere} && has(each.values) && self.template.metadata.labels[each.key] in each.values`

// A selector that does not find the machines it makes would make machines for ever.
export const selectorFindsItsOwn: Rule<Selecting>[] = [
  {
    cel: `!has(self.selector) || !has(self.selector.matchLabels) || self.selector.matchLabels.all(key, ${hasLabels} && key in self.template.metadata.labels && self.template.metadata.labels[key] == self.selector.matchLabels[key])`,
    message:
      'the selector must find the machines made of the template: put its matchLabels into template.metadata.labels',
    holds: ({ selector, template }) => {
      const labels = template.metadata?.labels ?? {}
      return Object.entries(selector?.matchLabels ?? {}).every(
        ([key, value]) => Object.hasOwn(labels, key) && labels[key] === value,
      )
    },
  },
  {
    cel: `!has(self.selector) || !has(self.selector.matchExpressions) || self.selector.matchExpressions.all(each, each.operator == 'DoesNotExist' ? !(${isThere}) : each.operator == 'Exists' ? (${isThere}) : each.operator == 'In' ? (${isAmong}) : !(${isAmong}))`,
    message:
      'the selector must find the machines made of the template: let template.metadata.labels fit its matchExpressions',
    holds: ({ selector, template }) => {
      const labels = template.metadata?.labels ?? {}
      return (selector?.matchExpressions ?? []).every(({ key, operator, values }) => {
        const value = Object.hasOwn(labels, key) ? labels[key] : undefined
        const isIn = value !== undefined && (values ?? []).includes(value)
        return { DoesNotExist: value === undefined, Exists: value !== undefined, In: isIn, NotIn: !isIn }[operator]
      })
    },
  },
]

export const scale: Scale = {
  replicas: '.spec.replicas',
  statusReplicas: '.status.replicas',
  selector: '.status.selector',
}

export const machineTemplate = () =>
  object({ metadata: templateMetadata(), spec: machineSpec() }).describe('The machine to make.')

export const scaleStatus = () => ({
  replicas: count('How many machines there are.'),
  readyReplicas: count('How many of them are ready.'),
  availableReplicas: count('How many of them have been ready for minReadySeconds.'),
  selector: text({ max: 4096 }).optional().describe('The selector as text, for `kubectl scale` and autoscalers.'),
})

export const replicaColumns: readonly Column[] = [
  ofCluster,
  { name: 'Desired', type: 'integer', jsonPath: '.spec.replicas', description: 'How many machines there should be.' },
  { name: 'Current', type: 'integer', jsonPath: '.status.replicas', description: 'How many there are.' },
  { name: 'Ready', type: 'integer', jsonPath: '.status.readyReplicas', description: 'How many are ready.' },
  { name: 'Available', type: 'integer', jsonPath: '.status.availableReplicas', description: 'How many are available.' },
]

export const CAPTMachineSet = kind({
  group: groups.infrastructure,
  kind: 'CAPTMachineSet',
  plural: 'captmachinesets',
  description: 'Keeps so many CAPTMachines of one template. Usually made by a CAPTMachineDeployment.',
  spec: () =>
    object(
      {
        clusterName: clusterName(),
        replicas: replicas().default(1).describe('How many machines there should be.'),
        selector: labelSelector().optional().describe('Which machines belong to it. Omitted: those it makes.'),
        minReadySeconds: integer({ min: 0, max: 86_400 })
          .default(0)
          .describe('Seconds a machine must have been ready before it counts as available.'),
        template: machineTemplate(),
      },
      selectorFindsItsOwn,
    ).describe('How many machines, and of what.'),
  status: () =>
    object({
      ...statusBasics(),
      ...scaleStatus(),
      fullyLabeledReplicas: count('How many of them have all labels of the template.'),
      ...failure(),
    })
      .optional()
      .describe('How many there are.'),
  words: { Ready: { Ready: 'True', NotReady: 'False' }, ...shared },
  columns: [...replicaColumns, age],
  scale,
  readBy: 'machineset',
})
export type CAPTMachineSet = ObjectOf<typeof CAPTMachineSet>
