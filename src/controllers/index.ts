// Every controller, by hand.
import type { Controller } from '../runtime/controller.ts'
import { workspaceTemplateController } from './workspacetemplate/index.ts'

export const controllers: readonly Controller[] = [workspaceTemplateController]
