// The controller of WorkspaceTemplates: what wakes it and what it looks at.
import { type Key, keyOf, tellKey } from '../../api/resource.ts'
import { WorkspaceTemplate } from '../../api/workspacetemplate.ts'
import { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'
import { controller, itself, mapped } from '../../runtime/controller.ts'
import { decide } from './decide.ts'

const byTemplate = 'template'

export const workspaceTemplateController = controller({
  name: 'workspacetemplate',
  kind: WorkspaceTemplate,
  wokenBy: [
    itself(WorkspaceTemplate),
    mapped(WorkspaceTemplateApply, (apply) => [templateOf(apply)], {
      indexes: { [byTemplate]: (apply: WorkspaceTemplateApply) => [tellKey(templateOf(apply))] },
    }),
  ],
  observe(read, template: WorkspaceTemplate) {
    const { namespace } = template.metadata
    const applies = read.keysAt(WorkspaceTemplateApply, byTemplate, tellKey(keyOf(template)))
    return { template, users: applies.map((apply) => nameFrom(namespace, apply)) }
  },
  decide,
})

function templateOf({ metadata, spec }: WorkspaceTemplateApply): Key {
  const namespace = spec.templateRef.namespace ?? metadata.namespace
  return { name: spec.templateRef.name, ...(namespace !== undefined && { namespace }) }
}

// In its own namespace a name is enough.
function nameFrom(namespace: string | undefined, key: Key): string {
  return key.namespace === namespace ? key.name : tellKey(key)
}
