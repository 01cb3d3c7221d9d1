// The controller of WorkspaceTemplates: what wakes it and what it looks at.
import { type Key, keyOf, tellKey } from '../../api/resource.ts'
import { WorkspaceTemplate } from '../../api/workspacetemplate.ts'
import { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'
import { controller, itself, mapped } from '../../runtime/controller.ts'
import { applyIndexes, byTemplate, templateOf } from '../workspacetemplateapply/relations.ts'
import { decide } from './decide.ts'

export const workspaceTemplateController = controller({
  name: 'workspacetemplate',
  kind: WorkspaceTemplate,
  wokenBy: [
    itself(WorkspaceTemplate),
    mapped(WorkspaceTemplateApply, (apply) => [templateOf(apply)], { indexes: applyIndexes }),
  ],
  writes: [{ resource: WorkspaceTemplate, verbs: ['patch'] }],
  observe(read, template: WorkspaceTemplate) {
    const { namespace } = template.metadata
    const applies = read.keysAt(WorkspaceTemplateApply, byTemplate, tellKey(keyOf(template)))
    return { template, users: applies.map((apply) => nameFrom(namespace, apply)) }
  },
  decide,
})

// In its own namespace a name is enough.
function nameFrom(namespace: string | undefined, key: Key): string {
  return key.namespace === namespace ? key.name : tellKey(key)
}
