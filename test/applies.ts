// An apply and everything around it as its judge sees it, and how tests tell what the judge decided.
import type { Condition } from '../src/api/condition.ts'
import { blockMoveAnnotation } from '../src/api/contract.ts'
import { annotations, holdFinalizer, labels } from '../src/api/keys.ts'
import type { Secret } from '../src/api/neighbours.ts'
import { tellObject } from '../src/api/resource.ts'
import { seal } from '../src/api/sealed.ts'
import { crossplane, type Workspace, type WorkspaceCondition, workspaceAPIs } from '../src/api/workspace.ts'
import type { WorkspaceTemplate } from '../src/api/workspacetemplate.ts'
import type { WorkspaceTemplateApply } from '../src/api/workspacetemplateapply.ts'
import { finalizer } from '../src/controllers/workspacetemplateapply/finalizer.ts'
import type { Seen, Where } from '../src/controllers/workspacetemplateapply/seen.ts'
import { wishOf } from '../src/controllers/workspacetemplateapply/wish.ts'
import type { Effect, Plan } from '../src/runtime/plan.ts'
import { tellPlanNote } from '../src/terraform/plannote.ts'
import { render } from '../src/terraform/render.ts'

type Apply = WorkspaceTemplateApply

export const now = new Date('2026-11-16T12:00:00Z')
export const at = (name: string) => ({ name, namespace: 'team' })
export const condition = (type: string, status: 'True' | 'False', reason: string, more: object = {}): Condition => ({
  type,
  status,
  reason,
  message: '',
  observedGeneration: 1,
  lastTransitionTime: '2026-11-16T11:59:00Z',
  ...more,
})

export const template: WorkspaceTemplate = {
  apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1',
  kind: 'WorkspaceTemplate',
  metadata: { ...at('network'), generation: 1 },
  spec: {
    template: {
      spec: { forProvider: { source: 'Inline', module: 'variable "cidr" {}\nvariable "password" { default = "" }\n' } },
    },
  },
  status: { conditions: [condition('Ready', 'True', 'Valid')] },
}
export const apply: Apply = {
  apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1',
  kind: 'WorkspaceTemplateApply',
  metadata: {
    ...at('vpc'),
    uid: 'uid-of-vpc',
    generation: 1,
    finalizers: [finalizer.ours],
    annotations: { [blockMoveAnnotation]: 'true' },
  },
  spec: {
    templateRef: { name: 'network' },
    variables: { cidr: '10.0.0.0/16' },
    deletionProtection: false,
    retainOnDelete: false,
  },
}
export const nowhereYet: Where = {
  is: 'known',
  api: workspaceAPIs['tf.m.upbound.io'],
  isServed: true,
  isCrossplane: false,
  name: 'vpc',
  externalName: 'team.vpc',
  isRecorded: false,
  workspace: undefined,
  silentAt: undefined,
}
export const asked: Seen = {
  apply,
  now,
  pause: { by: [], awaits: undefined, isKept: false },
  isAskedFor: true,
  template,
  where: nowhereYet,
  isNamespaceLeaving: false,
  dependencies: [],
  ring: undefined,
  dependents: [],
  sources: [],
  found: new Map(),
  secret: undefined,
  isSecretTaken: false,
  luggage: {
    metadata: {
      ...at('vpc-state'),
      uid: 'uid-of-luggage',
      labels: { [labels.apply]: 'team.vpc' },
      annotations: { [annotations.apply]: 'team/vpc' },
      ownerReferences: [
        {
          apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1',
          kind: 'WorkspaceTemplateApply',
          name: 'vpc',
          uid: 'uid-of-vpc',
          controller: true,
        },
      ],
    },
  },
  isLuggageBarred: false,
  isLuggageLost: false,
  home: undefined,
  salt: seal('a pinch'),
  isCrossNamespaceAllowed: false,
}

export function renderedOf({ apply: of, template: using = template, where, ...seen }: Seen) {
  if (where.is === 'none') throw new Error('it is nowhere')
  const rendered = render({ ...seen, apply: of, template: using, api: where.api, workspace: where.name })
  if (rendered.is === 'refused') throw new Error(rendered.message)
  return rendered
}
export const done: readonly WorkspaceCondition[] = [
  { type: 'Ready', status: 'True', reason: 'Available', lastTransitionTime: '' },
  { type: 'Synced', status: 'True', reason: 'ReconcileSuccess', observedGeneration: 1, lastTransitionTime: '' },
]
// The Workspace as it would be once all was asked for; with what an engine says of it.
export function made(
  seen: Seen = asked,
  conditions: readonly WorkspaceCondition[] = done,
  notes: object = {},
): Workspace {
  if (seen.where.is === 'none') throw new Error('it is nowhere')
  const wish = wishOf(seen.apply, seen.where, renderedOf(seen))
  const { metadata, spec } = wish
  return {
    ...wish,
    metadata: {
      ...metadata,
      uid: 'uid-of-workspace',
      resourceVersion: '7',
      generation: 1,
      finalizers: [holdFinalizer, ...(conditions.length > 0 ? [crossplane.finalizer] : [])],
      annotations: { ...metadata.annotations, ...notes },
    },
    spec: { ...spec, forProvider: { ...spec.forProvider, entrypoint: '' } },
    status: { conditions, atProvider: { outputs: { id: 'vpc-1' } } },
  }
}
export const having = (workspace: Workspace, more: Partial<Where> = {}, seen: Seen = asked): Seen => ({
  ...seen,
  apply: changed(seen.apply, {
    annotations: { ...seen.apply.metadata.annotations, [annotations.workspace]: 'tf.m.upbound.io/vpc' },
  }),
  where: { ...nowhereYet, ...more, workspace },
})
export const changed = (of: Apply, metadata: object, spec: object = {}, status: object = {}): Apply => ({
  ...of,
  metadata: { ...of.metadata, ...metadata },
  spec: { ...of.spec, ...spec },
  status: { ...of.status, ...status },
})
export const but = (metadata: object, spec: object = {}, seen: Seen = asked): Seen => ({
  ...seen,
  apply: changed(seen.apply, metadata, spec),
})
export const noted = (seen: Seen, notes: object): Seen =>
  but({ annotations: { ...seen.apply.metadata.annotations, ...notes } }, {}, seen)
export const going = { deletionTimestamp: '2026-11-16T11:00:00Z' }
export const leaving = (seen: Seen): Seen => but(going, {}, seen)
export const altered = (workspace: Workspace, metadata: object, spec: object = {}): Workspace => ({
  ...workspace,
  metadata: { ...workspace.metadata, ...metadata },
  spec: { ...workspace.spec, ...spec },
})
export const failed: readonly WorkspaceCondition[] = [
  {
    type: 'Synced',
    status: 'False',
    reason: 'ReconcileError',
    observedGeneration: 1,
    lastTransitionTime: '',
    message:
      'create failed: cannot apply Terraform configuration: Terraform encountered an error. Summary: VpcLimitExceeded.',
  },
]
export const held = tellPlanNote({
  id: 'p1',
  create: 0,
  update: 0,
  replace: 1,
  delete: 1,
  gone: ['a.b', 'c.d'],
  held: 'Destructive',
})
export const theirs = altered(
  made(),
  { labels: {}, annotations: {}, finalizers: [] },
  { forProvider: { source: 'Inline', module: '#', vars: [{ key: 'a', value: 'b' }] } },
)
export const varsSecret: Secret = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: {
    ...at('vpc-vars'),
    uid: 'uid-of-secret',
    resourceVersion: '3',
    labels: { [labels.apply]: 'team.vpc' },
    annotations: { [annotations.apply]: 'team/vpc' },
    ownerReferences: [
      { apiVersion: apply.apiVersion, kind: apply.kind, name: 'vpc', uid: 'uid-of-vpc', controller: true },
    ],
    finalizers: [holdFinalizer],
  },
  data: { salt: Buffer.from('a pinch').toString('base64') },
}
export const password = {
  name: 'password',
  secret: { name: 'db', key: 'password', format: 'Text' },
  optional: false,
} as const
export const secretly: Seen = {
  ...but({}, { variablesFrom: [password] }),
  found: new Map([['password', { is: 'known', value: 's3cr3t', isSensitive: true }]]),
}

export const tell = (effect: Effect): string => {
  switch (effect.do) {
    case 'apply':
    case 'delete':
    case 'patch':
      return `${effect.do} ${tellObject(effect.object)}`
    case 'tell':
    case 'count':
      return `${effect.do} ${effect.reason}`
    case 'addFinalizer':
    case 'removeFinalizer':
      return `${effect.do} ${effect.finalizer.replace(/.*\//, '')}`
  }
}
// Without what is in every plan.
export const deeds = ({ effects }: Plan) =>
  effects
    .map(tell)
    .filter((each) => each !== 'removeFinalizer finalizer')
    .join(', ')
export const said = ({ conditions }: Plan, ...types: readonly string[]) =>
  conditions
    .filter(({ type }) => types.includes(type))
    .map(({ status, reason }) => `${reason}=${status}`)
    .join(' ')
export const messageOf = ({ conditions }: Plan, type: string) =>
  conditions.find((each) => each.type === type)?.message ?? ''

export const workspaceDeed = 'apply Workspace team/vpc'
export const record = 'patch WorkspaceTemplateApply team/vpc'

// As an engine says that it waits for a word.
export const waits: readonly WorkspaceCondition[] = done.map((each) =>
  each.type === 'Synced'
    ? { ...each, status: 'False', reason: 'ReconcileError', message: 'update failed: held for approval: it deletes' }
    : each,
)
