// Every controller, by hand.
import type { Controller } from '../runtime/controller.ts'
import type { Settings } from '../runtime/settings.ts'
import { bootstrapConfigController } from './bootstrapconfig/index.ts'
import { captClusterController } from './captcluster/index.ts'
import { controlPlaneController } from './controlplane/index.ts'
import type { Outside } from './controlplane/outside.ts'
import { workspaceTemplateController } from './workspacetemplate/index.ts'
import { workspaceTemplateApplyController } from './workspacetemplateapply/index.ts'

export function controllersOf(settings: Settings, outside: Outside): readonly Controller[] {
  return [
    workspaceTemplateController,
    workspaceTemplateApplyController(settings),
    bootstrapConfigController,
    captClusterController,
    controlPlaneController(outside),
  ]
}
