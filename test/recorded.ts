// What was recorded of Crossplane's provider-terraform (test/recorded/), and an object in the form of the recording.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { annotations as ours } from '../src/api/keys.ts'
import { conditionsOf } from './bed/describe.ts'
import type { KubeObject } from './bed/kube.ts'

function read(file: string): readonly unknown[] {
  const text = readFileSync(resolve(import.meta.dirname, 'recorded', file), 'utf8')
  return parseAllDocuments(text).map((document) => document.toJS() as unknown)
}

// As they were applied.
export const applied = read('applied.yaml') as readonly KubeObject[]

const steps = read('steps.yaml') as readonly { readonly step: string; readonly object: KubeObject }[]

// All that was there after a step.
export function stepsOf(step: string): readonly KubeObject[] {
  return steps.filter((each) => each.step === step).map(({ object }) => object)
}

export function given(name: string): KubeObject {
  const found = applied.find(({ metadata }) => metadata.name === name)
  if (!found) throw new Error(`${name} was not recorded`)
  return found
}

// What was there after a write.
export interface Transition {
  readonly event: string
  readonly kind: string
  readonly generation?: number
  readonly finalizers?: readonly string[]
  readonly annotations?: readonly string[] // names
  readonly deleting?: true
  readonly conditions?: readonly string[] // status/reason@observedGeneration
  readonly atProvider?: readonly string[] // names
  readonly outputs?: number
  readonly keys?: readonly string[]
  readonly type?: string
}

// Every write, by the Workspace it was about.
export const transitions = read('transitions.yaml')[0] as Readonly<Record<string, readonly Transition[]>>

// As it is, in the form of the recording: what is ours beyond the recording is named here, and nothing else is left out.
export function masked(object: KubeObject, like: KubeObject): object {
  const { uid: _, resourceVersion: __, creationTimestamp: ___, managedFields: ____, ...metadata } = object.metadata
  const { generation: _____, ...kept } = metadata
  const { [ours.plan]: ______, [ours.cli]: _______, ...notes } = kept.annotations ?? {}
  const annotations = Object.fromEntries(
    Object.entries(notes).map(([name, value]) => [name, name.includes('create') ? '<time>' : value]),
  )
  const status = object['status'] as { atProvider?: { checksum?: string }; conditions?: object[]; users?: number }
  const { spec, status: ________, ...rest } = object
  const isWorkspace = object.kind === 'Workspace'
  return {
    ...rest,
    ...(spec !== undefined && !isWorkspace && { spec: like['spec'] }), // what a user wrote
    metadata: {
      ...kept,
      ...(Object.keys(annotations).length > 0 ? { annotations } : { annotations: undefined }),
      ...(kept.ownerReferences && { ownerReferences: kept.ownerReferences.map(({ uid: _uid, ...owner }) => owner) }),
      ...(object.kind === 'ProviderConfigUsage' && { name: undefined }),
    },
    ...(status && {
      status: {
        ...status,
        ...(status.atProvider && {
          atProvider: {
            ...status.atProvider,
            checksum: (like['status'] as typeof status).atProvider?.checksum && '<checksum>',
          },
        }),
        ...(status.conditions && {
          conditions: conditionsOf(object)
            .filter(({ type }) => type !== 'UpToDate')
            .map((condition) => ({
              ...condition,
              lastTransitionTime: '<time>',
              ...(condition.message && { message: condition.message.replace(/echo "[^"]*"/, 'echo "<blob>"') }),
            })),
        }),
      },
    }),
  }
}
