// Whether a cluster may be in EKS, though Terraform has never come to an end with it: what cannot be changed of one is settled from
// then on. Pure.
import type { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'
import { hasWorkspace } from '../childapply.ts'

// A first run that fails may have built it all the same. What was simply wrong, such as a version that EKS does not offer, can be
// corrected while it is sure that nothing was built.
export function isBegun(eks: WorkspaceTemplateApply | undefined): boolean {
  if (!eks || !hasWorkspace(eks)) return false
  return eks.status?.applied === true || !isRefused(eks)
}

// In the words of Terraform's AWS provider for a cluster that EKS did not even begin to make.
function isRefused({ status }: WorkspaceTemplateApply): boolean {
  return status?.failure?.text.includes('creating EKS Cluster (') === true
}
