// Every kind, by hand.
import { CAPTAddon } from './captaddon.ts'
import { CAPTAddonInstance } from './captaddoninstance.ts'
import { CAPTBootstrapConfig, CAPTBootstrapConfigTemplate } from './captbootstrapconfig.ts'
import { CAPTCluster, CAPTClusterTemplate } from './captcluster.ts'
import { CAPTControlPlane, CAPTControlPlaneTemplate } from './captcontrolplane.ts'
import { CAPTMachine, CAPTMachineTemplate } from './captmachine.ts'
import { CAPTMachineDeployment } from './captmachinedeployment.ts'
import { CAPTMachinePool, CAPTMachinePoolTemplate } from './captmachinepool.ts'
import { CAPTMachineSet } from './captmachineset.ts'
import type { Kind } from './kind.ts'
import { WorkspaceTemplate } from './workspacetemplate.ts'
import { WorkspaceTemplateApply } from './workspacetemplateapply.ts'

export const kinds: readonly Kind[] = [
  CAPTCluster,
  CAPTClusterTemplate,
  CAPTControlPlane,
  CAPTControlPlaneTemplate,
  WorkspaceTemplate,
  WorkspaceTemplateApply,
  CAPTMachine,
  CAPTMachineTemplate,
  CAPTMachineSet,
  CAPTMachineDeployment,
  CAPTMachinePool,
  CAPTMachinePoolTemplate,
  CAPTBootstrapConfig,
  CAPTBootstrapConfigTemplate,
  CAPTAddon,
  CAPTAddonInstance,
]
