// The Secret with the variables that must not be in a Workspace, one key for each revision that an engine may still read. Pure.
import { annotations, holdFinalizer } from '../../api/keys.ts'
import { Secret } from '../../api/neighbours.ts'
import { isWithin } from '../../api/record.ts'
import { beside, keyOf, type ObjectMeta, tellKey } from '../../api/resource.ts'
import { type Sealed, seal } from '../../api/sealed.ts'
import type { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'
import type { Effect } from '../../runtime/plan.ts'
import { varsSecretOf } from '../../terraform/identity.ts'
import { type Rendered, varsKeyOf } from '../../terraform/render.ts'
import { valuesIn } from '../../terraform/secretvalues.ts'
import { marksOf } from './relations.ts'
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
  const wanted = wish(apply, secret, data)
  const isSame =
    secret !== undefined &&
    isWithin(data, secret.data) &&
    Object.keys(secret.data ?? {}).every((key) => key in data) &&
    isMarked(wanted, secret)
  return isSame ? [] : [{ do: 'apply', resource: Secret, object: wanted }]
}

// All that says whose it is, and holds it, is still on it.
function isMarked({ metadata: wanted }: Secret, { metadata }: Secret): boolean {
  const { labels: marks, annotations: notes, ownerReferences: owners = [] } = wanted
  const isOwned = owners.every(({ uid }) =>
    metadata.ownerReferences?.some((each) => each.controller && each.uid === uid),
  )
  const isHeld = metadata.finalizers?.includes(holdFinalizer) === true
  return isOwned && isHeld && isWithin({ labels: marks, annotations: notes }, metadata)
}

// One that merely has the name is none of our business. Of one that was stripped of our note, its owner still tells, or the API server's
// book of who wrote it.
export function isSecretOf({ metadata: own }: WorkspaceTemplateApply, { metadata }: Secret): boolean {
  const named = metadata.annotations?.[annotations.apply]
  if (named !== undefined) return named === tellKey(keyOf({ metadata: own }))
  const isOwned = metadata.ownerReferences?.some(({ uid, controller }) => controller && uid === own.uid)
  return isOwned === true || metadata.managedFields?.some(({ manager }) => manager === writer) === true
}

const writer = 'capt-workspacetemplateapply'

function wish(
  apply: WorkspaceTemplateApply,
  secret: Secret | undefined,
  data: Readonly<Record<string, string>>,
): Secret {
  const metadata: ObjectMeta = {
    ...beside(apply, varsSecretOf(apply.metadata)),
    ...(secret?.metadata.uid !== undefined && { uid: secret.metadata.uid }),
    ...marksOf(apply),
    finalizers: [holdFinalizer],
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
