// An object as a failing test should show it: whole, without the noise, without secrets.
import { stringify } from 'yaml'
import type { KubeObject } from './kube.ts'

export interface Condition {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason?: string
  readonly message?: string
}

export function describeObject(object: KubeObject | undefined): string {
  if (!object) return '(no such object)'
  const { apiVersion, kind, metadata, ...rest } = object
  const { managedFields: _noise, ...told } = metadata as KubeObject['metadata'] & { managedFields?: unknown }
  const shown: Record<string, unknown> = { apiVersion, kind, metadata: told, ...rest }
  if (object.kind === 'Secret') {
    for (const field of ['data', 'stringData']) {
      const values = object[field]
      if (values) shown[field] = Object.fromEntries(Object.keys(values).map((key) => [key, '***']))
    }
  }
  return stringify(shown)
}

export function conditionsOf(object: KubeObject): readonly Condition[] {
  const { status } = object as KubeObject & { status?: { conditions?: readonly Condition[] } }
  return status?.conditions ?? []
}

// Available=True(Available), as golden logs and messages write it.
export function tellCondition({ type, status, reason }: Condition): string {
  return `${type}=${status}(${reason ?? ''})`
}
