// Looks at everything an apply depends on: from the cache what is there, by a live read the bytes of Secrets and ConfigMaps. It
// decides nothing.
import { randomBytes } from 'node:crypto'
import { annotations } from '../../api/keys.ts'
import { Namespace, Secret } from '../../api/neighbours.ts'
import { beside, type Key, keyOf, readKey, referredBy, tellKey } from '../../api/resource.ts'
import { seal } from '../../api/sealed.ts'
import { crossplane, type Workspace, workspaceAPIs } from '../../api/workspace.ts'
import { WorkspaceTemplate } from '../../api/workspacetemplate.ts'
import { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'
import { getIfThere } from '../../kube/ifthere.ts'
import type { Read } from '../../runtime/cache.ts'
import type { Live } from '../../runtime/controller.ts'
import { type Stage, stageOf } from '../../runtime/plan.ts'
import type { Settings } from '../../runtime/settings.ts'
import { varsSecretOf } from '../../terraform/identity.ts'
import { render } from '../../terraform/render.ts'
import { type Dependency, dependencyOnApply, dependencyOnWorkspace, ringOf } from './dependencies.ts'
import { finalizer } from './finalizer.ts'
import { byUse, isNeeded, templateOf, usedBy, workspaceKey } from './relations.ts'
import { saltIn } from './secretvars.ts'
import type { Nowhere, Seen, Where } from './seen.ts'
import { silentAt } from './silence.ts'
import { valuesOf, workspaceOf } from './values.ts'
import { type Place, whereIs } from './where.ts'

type Apply = WorkspaceTemplateApply
type Options = Pick<Settings, 'workspaceAPI' | 'isCrossNamespaceAllowed'>

export async function observe(read: Read, apply: Apply, live: Live, options: Options): Promise<Seen> {
  const { isCrossNamespaceAllowed } = options
  const stage = stageOf({ object: apply, finalizer: finalizer.ours })
  const isLeaving = stage === 'leaving'
  const isHere = (namespace = apply.metadata.namespace) =>
    isCrossNamespaceAllowed || namespace === apply.metadata.namespace
  const template = isHere(apply.spec.templateRef.namespace) ? read.get(WorkspaceTemplate, templateOf(apply)) : undefined
  const where = await heard(read, live, whereIs(read, apply, template, options))
  const workspace = where.is === 'known' ? where.workspace : undefined
  const isGoing = workspace?.metadata.deletionTimestamp !== undefined
  const find = (name: string) => read.get(WorkspaceTemplateApply, beside(apply, name))
  const seen = {
    apply,
    now: live.now(),
    template,
    where,
    isNamespaceLeaving: isGoing && isStaying(stage) && (await isNamespaceLeaving(apply, live)),
    dependencies: [],
    ring: ringOf(apply, find),
    dependents: isLeaving ? dependentsOf(read, apply) : [],
    sources: [],
    found: new Map(),
    isCrossNamespaceAllowed,
  }
  // Of what nothing is asked nothing more is looked at.
  if (!isStaying(stage) && !isLeaving) return { ...seen, ...ownedBy(apply, undefined) }
  if (isLeaving) {
    const secret = await getIfThere(live, Secret, beside(apply, varsSecretOf(apply.metadata)))
    return { ...seen, ...ownedBy(apply, secret) }
  }
  const waited = await Promise.all(
    (workspace ? [] : (apply.spec.waitForSecrets ?? []))
      .filter(({ namespace }) => isHere(namespace))
      .map(async (each) => dependencyOnSecret(referredBy(apply, each), live)),
  )
  const used = usedBy(apply).flatMap((name) => dependencyOn(read, apply, name, isHere))
  const dependencies = [...waited, ...used]
  const { found, sources } = await valuesOf(read, apply, live)
  const vars = ownedBy(apply, await varsOf(read, live, { ...seen, found }))
  return { ...seen, dependencies, sources, found, ...vars }
}

async function heard(read: Read, live: Live, place: Place | Nowhere): Promise<Where | Nowhere> {
  if (place.is === 'none') return place
  const { api, workspace } = place
  return { ...place, silentAt: workspace && (await silentAt(read, live, api, workspace)) }
}

function isStaying(stage: Stage): boolean {
  return stage === 'new' || stage === 'live'
}

// A Secret that merely has the name is none of our business.
function ownedBy(apply: Apply, found: Secret | undefined): Pick<Seen, 'secret' | 'isSecretTaken' | 'salt'> {
  const isOurs = found?.metadata.annotations?.[annotations.apply] === tellKey(keyOf(apply))
  const secret = isOurs ? found : undefined
  const salt = saltIn(secret) ?? seal(randomBytes(16).toString('hex'))
  return { secret, isSecretTaken: found !== undefined && !isOurs, salt }
}

async function isNamespaceLeaving({ metadata: { namespace = '' } }: Apply, live: Live): Promise<boolean> {
  const found = await getIfThere(live, Namespace, { name: namespace })
  return found?.metadata.deletionTimestamp !== undefined
}

async function dependencyOnSecret(key: Key, live: Live): Promise<Dependency> {
  const secret = await getIfThere(live, Secret, key)
  const about = { what: 'Secret', name: key.name } as const
  // Crossplane makes it before there is anything to write into it.
  const isAwaited = secret?.type === crossplane.connectionSecretType && Object.keys(secret.data ?? {}).length === 0
  if (isAwaited) return { ...about, is: 'waiting', why: 'it is empty' }
  return { ...about, is: secret ? 'ready' : 'waiting', why: '' }
}

// What is optional is waited for only while it is there.
function dependencyOn(
  read: Read,
  apply: Apply,
  name: string,
  isHere: (namespace: string | undefined) => boolean,
): readonly Dependency[] {
  const other = read.get(WorkspaceTemplateApply, beside(apply, name))
  if (other) return [dependencyOnApply(name, other)]
  if (!isNeeded(apply, name)) return []
  const workspaces = Object.values(workspaceAPIs).map((api) => read.get(api.workspace, workspaceKey(api, apply, name)))
  // In an API without namespaces all are in sight; those of other namespaces are none of its business.
  const ownerOf = ({ metadata }: Workspace) => metadata.annotations?.[annotations.apply]
  const isOurs = (each: Workspace) => isHere(readKey(ownerOf(each) ?? tellKey(keyOf(apply))).namespace)
  return [
    dependencyOnWorkspace(
      name,
      workspaces.find((each) => each !== undefined && isOurs(each)),
    ),
  ]
}

function dependentsOf(read: Read, apply: Apply): readonly string[] {
  return read
    .byIndex(WorkspaceTemplateApply, byUse, tellKey(keyOf(apply)))
    .filter((each) => each.metadata.name !== apply.metadata.name && workspaceOf(read, each) !== undefined)
    .map(({ metadata }) => metadata.name)
    .toSorted()
}

// Read only where there is one, or is to be one: most applies have nothing to hide.
async function varsOf(
  read: Read,
  live: Live,
  { apply, template, where, ...seen }: Pick<Seen, 'apply' | 'template' | 'where' | 'found' | 'isCrossNamespaceAllowed'>,
): Promise<Secret | undefined> {
  const key = beside(apply, varsSecretOf(apply.metadata))
  if (!read.get(Secret, key)) {
    if (!template || where.is === 'none') return undefined
    const rendered = render({ ...seen, apply, template, api: where.api, workspace: where.name, salt: seal('') })
    if (rendered.is === 'refused' || !rendered.secretVars) return undefined
  }
  return getIfThere(live, Secret, key)
}
