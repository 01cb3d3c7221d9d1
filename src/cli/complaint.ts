// What a command says when it cannot do what it was asked: a sentence, and what to do. Nothing of it is a bug.
import { type Resource, resourceName } from '../api/resource.ts'
import { ApiError, isNotServed } from '../kube/errors.ts'

export class Complaint extends Error {}

export interface Asked {
  readonly resource: Pick<Resource, 'kind' | 'plural' | 'group'>
  readonly namespace?: string | undefined
  readonly server: string
}

export function complaintAbout(error: unknown, { resource, namespace, server }: Asked): Complaint {
  const cause = { cause: error }
  if (!(error instanceof ApiError)) {
    return new Complaint(error instanceof Error ? error.message : String(error), cause)
  }
  if (error.isUnreachable) {
    return new Complaint(
      `the API server ${server} cannot be reached: ${error.message}. See whether it runs, and whether --kubeconfig and --context name the right one.`,
      cause,
    )
  }
  if (error.code === 401) {
    return new Complaint(
      `the API server ${server} does not know you: log in again, or choose another --context.`,
      cause,
    )
  }
  if (error.code === 403) return new Complaint(forbidden(resource, namespace), cause)
  if (isNotServed(error)) {
    return new Complaint(
      `${resourceName(resource)} are not served by ${server}: is Cluster API 1.11 or newer installed there? Else choose another --context.`,
      cause,
    )
  }
  return new Complaint(error.message, cause)
}

export function forbidden(
  resource: Pick<Resource, 'kind' | 'plural' | 'group'>,
  namespace: string | undefined,
): string {
  const where = namespace === undefined ? 'in the whole cluster' : `in namespace ${namespace}`
  return `you may not list and watch ${resourceName(resource)} ${where}: a role with these verbs lets you`
}
