// The account's service-linked role for EC2 Spot: made once for each ProviderConfig by an apply that nobody owns, waited for before
// EKS is built, never deleted with a cluster. Pure.
import { CAPTControlPlane } from '../../api/captcontrolplane.ts'
import { type Said, vocabulary } from '../../api/condition.ts'
import { applyNamed } from '../../api/name.ts'
import { isWithin } from '../../api/record.ts'
import { tellObject } from '../../api/resource.ts'
import type { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'
import type { Effect } from '../../runtime/plan.ts'
import { ask, runOf, watchFilterOf } from '../childapply.ts'

const say = vocabulary(CAPTControlPlane.words)

export function isSpotRoleWanted({ spec }: CAPTControlPlane): boolean {
  return spec.controlPlaneConfig?.spotServiceLinkedRole === 'Ensure'
}

export function spotRoleApplyName({ spec }: CAPTControlPlane): string {
  return applyNamed(`spot-role-${spec.providerConfigRef?.name ?? 'default'}`)
}

export interface SpotRole {
  readonly effects: readonly Effect[]
  readonly said: Said
}

export function spotRoleOf(controlPlane: CAPTControlPlane, apply: WorkspaceTemplateApply | undefined): SpotRole {
  if (!isSpotRoleWanted(controlPlane)) return { effects: [], said: say('SpotRoleReady', 'Ignored') }
  const { providerConfigRef } = controlPlane.spec
  const made = apply?.spec.providerConfigRef
  if (apply && !isWithin(meant(providerConfigRef), meant(made))) {
    const message = `${tellObject(apply)} is for another ProviderConfig: give the ProviderConfigs different names`
    return { effects: [], said: say('SpotRoleReady', 'Failed', message) }
  }
  const wish = ask(controlPlane, {
    name: spotRoleApplyName(controlPlane),
    // Managers that share it do not fight for it: it stays with the first.
    watchFilter: apply && watchFilterOf(apply),
    spec: {
      templateRef: { name: 'spot-role-create' },
      retainOnDelete: true,
      ...(providerConfigRef && { providerConfigRef }),
    },
  })
  // Of two that mean the same with other words, the first has said it.
  const isSaid = apply && !isWithin(providerConfigRef, made)
  return { effects: isSaid ? [] : [wish], said: tell(apply) }
}

type ProviderConfigRef = CAPTControlPlane['spec']['providerConfigRef']

function meant(ref: ProviderConfigRef): NonNullable<ProviderConfigRef> {
  return ref ?? { kind: 'ClusterProviderConfig', name: 'default' }
}

function tell(apply: WorkspaceTemplateApply | undefined): Said {
  if (!apply) return say('SpotRoleReady', 'Creating', 'Terraform is asked for the service-linked role of EC2 Spot')
  const { is, why } = runOf(apply)
  if (is === 'done') return say('SpotRoleReady', 'Ensured')
  if (is === 'failed' && isThereAlready(apply)) return say('SpotRoleReady', 'Ensured', 'it was there already')
  return is === 'running' ? say('SpotRoleReady', 'Creating', why) : say('SpotRoleReady', 'Failed', why)
}

// In IAM's own words for it.
function isThereAlready({ status }: WorkspaceTemplateApply): boolean {
  return /has been taken in this account|AWSServiceRoleForEC2Spot.*already exists/is.test(status?.failure?.text ?? '')
}
