// In which AWS account Terraform builds: only the ProviderConfig that it uses tells. What is nearer to the cluster counts.
import type { KubeObject } from '../api/resource.ts'
import { WorkspaceTemplate } from '../api/workspacetemplate.ts'
import type { WorkspaceTemplateApply } from '../api/workspacetemplateapply.ts'
import type { Read } from '../runtime/cache.ts'

export type Account = NonNullable<WorkspaceTemplateApply['spec']['providerConfigRef']>

interface TemplateRef {
  readonly name: string
  readonly namespace?: string | undefined
}

// As Terraform takes it when nobody says anything.
export const usualAccount: Account = { kind: 'ClusterProviderConfig', name: 'default' }

// What a template says for those who say nothing themselves. Undefined: it is not there.
export function accountOfTemplate(read: Read, subject: KubeObject, ref: TemplateRef): Account | undefined {
  const { name, namespace = subject.metadata.namespace } = ref
  const template = read.get(WorkspaceTemplate, namespace === undefined ? { name } : { name, namespace })
  const { kind, name: called } = template?.spec.template.spec.providerConfigRef ?? {}
  return template && { kind: kind ?? usualAccount.kind, name: called ?? usualAccount.name }
}
