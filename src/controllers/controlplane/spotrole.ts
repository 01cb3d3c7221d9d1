// The account's service-linked role for EC2 Spot: made once for each ProviderConfig by an apply that nobody owns, waited for before
// EKS is built, never deleted with a cluster. Pure.
import { CAPTControlPlane } from '../../api/captcontrolplane.ts'
import { promise, type Said, vocabulary } from '../../api/condition.ts'
import { applyNamed } from '../../api/name.ts'
import { isWithin } from '../../api/record.ts'
import { tellObject } from '../../api/resource.ts'
import type { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'
import type { Effect } from '../../runtime/plan.ts'
import { type Account, usualAccount } from '../account.ts'
import { ask, runOf, watchFilterOf } from '../childapply.ts'
import type { Seen } from './seen.ts'

const say = vocabulary(CAPTControlPlane.words)

export function isSpotRoleWanted({ spec }: CAPTControlPlane): boolean {
  return spec.controlPlaneConfig?.spotServiceLinkedRole === 'Ensure'
}

const begun = 'spot-role-'

export function spotRoleApplyName({ name }: Pick<Account, 'name'>): string {
  return applyNamed(`${begun}${name}`)
}

export function isSpotRole({ metadata }: WorkspaceTemplateApply): boolean {
  return metadata.name.startsWith(begun)
}

export interface SpotRole {
  readonly effects: readonly Effect[]
  readonly said: Said
}

type Asking = Pick<Seen, 'controlPlane' | 'accountOfTemplate' | 'spotRole'>

export function spotRoleOf({ controlPlane, accountOfTemplate, spotRole: apply }: Asking): SpotRole {
  if (!isSpotRoleWanted(controlPlane)) return { effects: [], said: say('SpotRoleReady', 'Ignored') }
  const account = controlPlane.spec.providerConfigRef ?? accountOfTemplate
  if (!account || isToBeFilled(account)) {
    const { name } = controlPlane.spec.workspaceTemplateRef
    const why = account ? 'names its ProviderConfig by a variable' : 'is not there, and would say in which account'
    const message = `WorkspaceTemplate ${name} ${why}: set spec.providerConfigRef${account ? '' : ', or create it'}`
    return { effects: [], said: say('SpotRoleReady', 'Failed', message) }
  }
  if (apply && !isWithin(account, apply.spec.providerConfigRef ?? usualAccount)) {
    const message = `${tellObject(apply)} is for another ProviderConfig: give the ProviderConfigs different names`
    return { effects: [], said: say('SpotRoleReady', 'Failed', message) }
  }
  const wish = ask(controlPlane, {
    name: spotRoleApplyName(account),
    // Managers that share it do not fight for it: it stays with the first.
    watchFilter: apply && watchFilterOf(apply),
    spec: { templateRef: { name: 'spot-role-create' }, retainOnDelete: true, providerConfigRef: account },
  })
  return { effects: [wish], said: tell(apply) }
}

// A template may leave part of the name to its variables.
function isToBeFilled({ name }: Account): boolean {
  return name.includes('$')
}

function tell(apply: WorkspaceTemplateApply | undefined): Said {
  if (!apply)
    return promise(say('SpotRoleReady', 'Creating', 'Terraform is asked for the service-linked role of EC2 Spot'))
  const { is, why } = runOf(apply)
  const name = tellObject(apply) // whoever shows a cluster finds it by this
  if (is === 'done') return say('SpotRoleReady', 'Ensured', `by ${name}`)
  if (is === 'failed' && isThereAlready(apply)) return say('SpotRoleReady', 'Ensured', `${name} found it there already`)
  return is === 'running' ? say('SpotRoleReady', 'Creating', why) : say('SpotRoleReady', 'Failed', why)
}

// In IAM's own words for it.
function isThereAlready({ status }: WorkspaceTemplateApply): boolean {
  return /has been taken in this account|AWSServiceRoleForEC2Spot.*already exists/is.test(status?.failure?.text ?? '')
}
