// In which AWS account Terraform builds: only the ProviderConfig that it uses tells. What is nearer to the cluster counts.
import { isDeepStrictEqual } from 'node:util'
import { annotations } from '../api/keys.ts'
import { type KubeObject, referredBy } from '../api/resource.ts'
import { WorkspaceTemplate } from '../api/workspacetemplate.ts'
import type { WorkspaceTemplateApply } from '../api/workspacetemplateapply.ts'
import type { Read } from '../runtime/cache.ts'
import { hasWorkspace } from './childapply.ts'

export type Account = NonNullable<WorkspaceTemplateApply['spec']['providerConfigRef']>

// As Terraform takes it when nobody says anything.
export const usualAccount: Account = { kind: 'ClusterProviderConfig', name: 'default' }

// What a template says for those who say nothing themselves. Undefined: it is not there.
export function accountOfTemplate(
  read: Read,
  subject: KubeObject,
  ref: Parameters<typeof referredBy>[1],
): Account | undefined {
  const template = read.get(WorkspaceTemplate, referredBy(subject, ref))
  const { kind, name } = template?.spec.template.spec.providerConfigRef ?? {}
  return template && { kind: kind ?? usualAccount.kind, name: name ?? usualAccount.name }
}

interface Subject extends KubeObject {
  readonly spec: { readonly providerConfigRef?: Account | undefined }
}

interface Settled {
  readonly ref: Account | undefined // to be asked with; undefined: the template says it
  readonly refusal?: string // why it is not the one that is wanted
}

// What may have built something stays in its account: in another one Terraform would find nothing, build it all a second time, and forget
// the first. Whether two ProviderConfigs lead to one account, only people know. A schema could forbid the change, but not let it be meant.
export function settledAccount(
  subject: Subject,
  apply: WorkspaceTemplateApply | undefined,
  ofTemplate: Account | undefined,
): Settled {
  const { providerConfigRef: wanted } = subject.spec
  const isMeant = subject.metadata.annotations?.[annotations.allowProviderConfigChange] !== undefined
  if (!apply || isMeant || !mayHaveBuilt(apply)) return { ref: wanted }
  const { providerConfigRef: used } = apply.spec
  const [from, to] = [used, wanted].map((each) => each ?? ofTemplate ?? usualAccount)
  if (isDeepStrictEqual(from, to)) return { ref: wanted }
  const refusal = `spec.providerConfigRef names ${tellAccount(to)}, but everything was built with ${tellAccount(from)}, which stays: if both lead to the same AWS account, annotate this object with ${annotations.allowProviderConfigChange}; else make a new cluster`
  return { ref: used, refusal }
}

// A first run that could not even log in has built nothing: who named the wrong one can correct it.
function mayHaveBuilt(apply: WorkspaceTemplateApply): boolean {
  const { applied, failure } = apply.status ?? {}
  const isRefused = failure?.class === 'credentials' || failure?.text.includes('ProviderConfig')
  return hasWorkspace(apply) && (applied === true || !isRefused)
}

function tellAccount({ kind, name }: Account = usualAccount): string {
  return `${kind} ${name}`
}
