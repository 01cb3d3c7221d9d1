// Makes the spec of a Workspace of a template, an apply and the values it asked for. Pure: everything was read before.
import { createHmac } from 'node:crypto'
import { canonical, hashOf } from '../api/canonical.ts'
import { keyOf, tellKey } from '../api/resource.ts'
import { type Sealed, seal } from '../api/sealed.ts'
import type { VarFile, WorkspaceAPI, WorkspaceSpec } from '../api/workspace.ts'
import type { WorkspaceTemplate } from '../api/workspacetemplate.ts'
import type { WorkspaceTemplateApply } from '../api/workspacetemplateapply.ts'
import { forProviderOf } from './forprovider.ts'
import { connectionSecretOf, varsSecretOf } from './identity.ts'
import { withoutDelete } from './policies.ts'
import { referencesOf } from './references.ts'
import type { Found } from './variables.ts'

export type { Found } from './variables.ts'

export interface Asked {
  readonly apply: Pick<WorkspaceTemplateApply, 'metadata' | 'spec'>
  readonly template: Pick<WorkspaceTemplate, 'metadata' | 'spec'>
  readonly api: Pick<WorkspaceAPI, 'group' | 'isNamespaced'>
  readonly workspace: string // its name: of `workspaceNameOf`, or the old one of a Workspace that was adopted
  readonly found: ReadonlyMap<string, Found> // by the name of the variable
  readonly isCrossNamespaceAllowed: boolean
  // Random, and kept in the Secret of `varsSecretOf` once there is one: a revision is public, and nobody shall guess secrets by it.
  readonly salt: Sealed
}

export interface Rendered {
  readonly is: 'rendered'
  readonly spec: WorkspaceSpec
  readonly secretVars: Sealed | undefined // JSON of the variables that must not be in a Workspace
  readonly revision: string // changes with anything that reaches Terraform, secret values included, and with nothing else
}

export interface Refused {
  readonly is: 'refused'
  readonly reason: Reason
  readonly message: string // names what and where, says what to write; never a value
}

// What only a person can put right is told before what may come by waiting.
const reasons = [
  'CrossNamespaceReference',
  'InvalidVariables',
  'UnknownVariables',
  'UnsafeValue',
  'MissingVariables',
] as const
type Reason = (typeof reasons)[number]

export function render(asked: Asked): Rendered | Refused {
  const problems: Omit<Refused, 'is'>[] = []
  const drawn = draw(asked, (reason, message) => problems.push({ reason, message }))
  const reason = reasons.find((each) => problems.some((problem) => problem.reason === each))
  if (reason === undefined) return complete(asked, drawn)
  const told = new Set(problems.filter((each) => each.reason === reason).map(({ message }) => message))
  return { is: 'refused', reason, message: [...told].toSorted().join('; ') }
}

interface Drawn {
  readonly spec: WorkspaceSpec // without the variables that are secret
  readonly secrets: ReadonlyMap<string, unknown>
}

function draw(asked: Asked, refuse: (reason: Reason, message: string) => void): Drawn {
  const { apply, template, api } = asked
  const { deletionPolicy, managementPolicies } = template.spec.template.spec
  const references = referencesOf(asked, refuse)
  references.check(apply.spec.templateRef.namespace, 'spec.templateRef')
  const { forProvider, around, secrets } = forProviderOf(asked, references, refuse)
  const providerConfig = apply.spec.providerConfigRef ?? around.providerConfigRef
  if (providerConfig) references.checkName(providerConfig, "the template's spec.template.spec.providerConfigRef")
  const isOrphaned = api.isNamespaced && deletionPolicy === 'Orphan'
  const policies = isOrphaned ? withoutDelete(managementPolicies) : managementPolicies
  return {
    secrets,
    spec: {
      forProvider,
      writeConnectionSecretToRef: references.locate(...connectionOf(asked, around.writeConnectionSecretToRef)),
      ...(providerConfig && {
        providerConfigRef: {
          name: providerConfig.name,
          ...(api.isNamespaced && { kind: providerConfig.kind ?? 'ClusterProviderConfig' }),
        },
      }),
      ...(policies && { managementPolicies: policies }),
      ...(deletionPolicy && !api.isNamespaced && { deletionPolicy }),
    },
  }
}

// There is always one: sensitive outputs are nowhere else.
function connectionOf(
  { apply, template: { spec } }: Asked,
  ofSpec: SecretRef | undefined,
): [ref: SecretRef, place: string] {
  const { writeConnectionSecretToRef: ofApply } = apply.spec
  if (ofApply) return [ofApply, 'spec.writeConnectionSecretToRef']
  if (ofSpec) return [ofSpec, "the template's spec.template.spec.writeConnectionSecretToRef"]
  const own = { name: connectionSecretOf(apply.metadata) }
  return [spec.writeConnectionSecretToRef ?? own, "the template's spec.writeConnectionSecretToRef"]
}

interface SecretRef {
  readonly name: string
  readonly namespace?: string | undefined
}

// The variables that are secret are in a file of their own, which is called after the revision: so the Workspace changes with them.
function complete({ apply, api, workspace, salt }: Asked, { spec, secrets }: Drawn): Rendered {
  const text = secrets.size > 0 ? canonical(Object.fromEntries(secrets)) : undefined
  const revision = hashOf({
    spec,
    identity: [api.group, workspace, tellKey(keyOf(apply))],
    secrets: text === undefined ? undefined : createHmac('sha256', salt.open()).update(text).digest('hex'),
  })
  if (text === undefined) return { is: 'rendered', spec, secretVars: undefined, revision }
  const { namespace } = apply.metadata
  const file: VarFile = {
    source: 'SecretKey',
    format: 'JSON',
    secretKeyRef: {
      name: varsSecretOf(apply.metadata),
      ...(!api.isNamespaced && namespace !== undefined && { namespace }),
      key: varsKeyOf(revision),
    },
  }
  const forProvider = { ...spec.forProvider, varFiles: [...(spec.forProvider.varFiles ?? []), file] }
  return { is: 'rendered', spec: { ...spec, forProvider }, secretVars: seal(text), revision }
}

// Where in the Secret of `varsSecretOf` the variables of a revision are.
export function varsKeyOf(revision: string): string {
  return `${revision}.json`
}
