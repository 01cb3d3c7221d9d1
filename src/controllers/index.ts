// Every controller, by hand.
import type { Controller } from '../runtime/controller.ts'
import type { Settings } from '../runtime/settings.ts'
import { workspaceTemplateController } from './workspacetemplate/index.ts'
import { workspaceTemplateApplyController } from './workspacetemplateapply/index.ts'

export function controllersOf(settings: Settings): readonly Controller[] {
  return [workspaceTemplateController, workspaceTemplateApplyController(settings)]
}
