// The Secret with the variables that must not be in a Workspace, one key for each revision that an engine may still read. Pure.
import { annotations, holdFinalizer, labels } from '../../api/keys.ts'
import { Secret } from '../../api/neighbours.ts'
import { isWithin } from '../../api/record.ts'
import { apiVersionOf, beside, keyOf, type ObjectMeta, tellKey } from '../../api/resource.ts'
import { type Sealed, seal } from '../../api/sealed.ts'
import { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'
import type { Effect } from '../../runtime/plan.ts'
import { applyLabelOf, varsSecretOf } from '../../terraform/identity.ts'
import { type Rendered, varsKeyOf } from '../../terraform/render.ts'
import { valuesIn } from '../../terraform/secretvalues.ts'
import type { Seen } from './seen.ts'

const saltKey = 'salt'
const encoded = (text: string) => Buffer.from(text).toString('base64')

export function saltIn(secret: Secret | undefined): Sealed | undefined {
  const salt = secret?.data?.[saltKey]
  return salt === undefined ? undefined : seal(Buffer.from(salt, 'base64').toString())
}

// What must not be seen of it in what Terraform prints.
export function secretsIn(secret: Secret | undefined): readonly string[] {
  const values = Object.entries(secret?.data ?? {}).filter(([key]) => key !== saltKey)
  return values.flatMap(([, value]) => valuesIn(Buffer.from(value, 'base64').toString()))
}

// `others` are the revisions that are kept beside this one.
export function keepSecretVars(
  { apply, secret, salt }: Pick<Seen, 'apply' | 'secret' | 'salt'>,
  { revision, secretVars }: Pick<Rendered, 'revision' | 'secretVars'>,
  others: readonly string[],
): readonly Effect[] {
  if (!secret && !secretVars) return []
  const keys = new Set(others.map(varsKeyOf))
  const kept = Object.entries(secret?.data ?? {}).filter(([key]) => keys.has(key))
  const data: Readonly<Record<string, string>> = {
    ...Object.fromEntries(kept),
    ...(secretVars && { [varsKeyOf(revision)]: encoded(secretVars.open()) }),
    [saltKey]: encoded(salt.open()),
  }
  const isSame =
    isWithin(data, secret?.data) &&
    Object.keys(secret?.data ?? {}).every((key) => key in data) &&
    secret?.metadata.finalizers?.includes(holdFinalizer)
  return isSame ? [] : [{ do: 'apply', resource: Secret, object: wish(apply, secret, data) }]
}

function wish(
  apply: WorkspaceTemplateApply,
  secret: Secret | undefined,
  data: Readonly<Record<string, string>>,
): Secret {
  const { uid = '', name } = apply.metadata
  const metadata: ObjectMeta = {
    ...beside(apply, varsSecretOf(apply.metadata)),
    ...(secret?.metadata.uid !== undefined && { uid: secret.metadata.uid }),
    labels: { [labels.apply]: applyLabelOf(keyOf(apply)) },
    annotations: { [annotations.apply]: tellKey(keyOf(apply)) },
    finalizers: [holdFinalizer],
    ownerReferences: [
      { apiVersion: apiVersionOf(WorkspaceTemplateApply), kind: apply.kind, name, uid, controller: true },
    ],
  }
  return { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', data }
}

// Once no engine reads it any more. A Workspace that stays still reads it: then it stays, and nobody owns it.
export function letSecretVarsGo(secret: Secret | undefined, isKept: boolean): readonly Effect[] {
  if (!secret) return []
  const finalizers = (secret.metadata.finalizers ?? []).filter((each) => each !== holdFinalizer)
  const change = { metadata: { finalizers, ...(isKept && { ownerReferences: null }) } }
  const isHeld = secret.metadata.finalizers?.includes(holdFinalizer)
  const release: readonly Effect[] = isHeld ? [{ do: 'patch', resource: Secret, object: secret, change }] : []
  return isKept ? release : [...release, { do: 'delete', resource: Secret, object: secret }]
}
