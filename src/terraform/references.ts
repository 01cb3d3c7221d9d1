// References to other namespaces: refused unless they are allowed, and never rewritten. Pure.
import { isObjectName } from '../api/fields.ts'
import type { WorkspaceAPI } from '../api/workspace.ts'
import type { WorkspaceTemplateApply } from '../api/workspacetemplateapply.ts'

interface Asked {
  readonly apply: Pick<WorkspaceTemplateApply, 'metadata'>
  readonly api: Pick<WorkspaceAPI, 'group' | 'isNamespaced'>
  readonly isCrossNamespaceAllowed: boolean
}

export interface References {
  check(namespace: string | undefined, place: string): void
  checkName(ref: Pick<Reference, 'name'>, place: string): void // which may have been filled in
  // A reference as a Workspace has it: with a namespace exactly where Workspaces have none.
  locate<R extends Reference>(ref: R, place: string): Omit<R, 'namespace'> & Located
}

interface Reference {
  readonly name: string
  readonly namespace?: string | undefined
}
interface Located {
  readonly namespace?: string
}

type Refuse = (reason: 'CrossNamespaceReference' | 'UnsafeValue', message: string) => void

export function referencesOf({ apply, api, isCrossNamespaceAllowed }: Asked, refuse: Refuse): References {
  const own = apply.metadata.namespace
  const refuseAt = (place: string, namespace: string, why: string) =>
    refuse('CrossNamespaceReference', `${place} is in namespace ${namespace}, and ${why}: use one of namespace ${own}`)
  const check: References['check'] = (namespace = own, place) => {
    if (namespace !== undefined && namespace !== own && !isCrossNamespaceAllowed)
      refuseAt(place, namespace, 'the manager runs without --allow-cross-namespace-refs')
  }
  const checkName: References['checkName'] = ({ name }, place) => {
    if (!isObjectName(name))
      refuse(
        'UnsafeValue',
        `${place}.name: what is filled in makes no name of an object of it: give lower-case letters, digits, - and .`,
      )
  }
  return {
    check,
    checkName,
    locate({ namespace = own, ...ref }, place) {
      checkName(ref, place)
      if (!api.isNamespaced) check(namespace, place)
      else if (namespace !== undefined && namespace !== own)
        refuseAt(place, namespace, `a Workspace of ${api.group} reads its own only`)
      return { ...ref, ...(!api.isNamespaced && namespace !== undefined && { namespace }) }
    },
  }
}
