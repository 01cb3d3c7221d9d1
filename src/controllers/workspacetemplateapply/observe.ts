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
import { stateSecretNameOf, varsSecretOf } from '../../terraform/identity.ts'
import { type Rendered, render } from '../../terraform/render.ts'
import { builtElsewhere } from './arriving.ts'
import { type Dependency, dependencyOnApply, dependencyOnWorkspace, ringOf } from './dependencies.ts'
import { finalizer } from './finalizer.ts'
import { homeOf } from './home.ts'
import { isBlocked } from './moving.ts'
import { askerOf, pauseOf } from './pause.ts'
import { byUse, isNeeded, templateOf, usedBy, workspaceKey } from './relations.ts'
import { isSecretOf, saltIn } from './secretvars.ts'
import type { Nowhere, Seen, Where } from './seen.ts'
import { silentAt } from './silence.ts'
import { valuesOf, workspaceOf } from './values.ts'
import { type Place, whereIs } from './where.ts'

type Apply = WorkspaceTemplateApply
type Options = Pick<Settings, 'workspaceAPI' | 'isCrossNamespaceAllowed'>

export async function observe(read: Read, apply: Apply, live: Live, options: Options): Promise<Seen> {
  const { isCrossNamespaceAllowed } = options
  const asker = askerOf(read, apply)
  const pause = pauseOf(read, apply, asker)
  const stage = stageOf({ object: apply, isPaused: pause.by.length > 0, finalizer: finalizer.ours })
  const isLeaving = stage === 'leaving'
  const isHere = (namespace = apply.metadata.namespace) =>
    isCrossNamespaceAllowed || namespace === apply.metadata.namespace
  const template = isHere(apply.spec.templateRef.namespace) ? read.get(WorkspaceTemplate, templateOf(apply)) : undefined
  const where = await heard(read, live, await placeOf(read, apply, live, template, options))
  const workspace = where.is === 'known' ? where.workspace : undefined
  const isGoing = workspace?.metadata.deletionTimestamp !== undefined
  const find = (name: string) => read.get(WorkspaceTemplateApply, beside(apply, name))
  const seen = {
    apply,
    now: live.now(),
    pause,
    isAskedFor: asker !== undefined,
    template,
    where,
    isNamespaceLeaving: isGoing && isStaying(stage) && (await isNamespaceLeaving(apply, live)),
    dependencies: [],
    ring: ringOf(apply, find),
    dependents: isLeaving ? dependentsOf(read, apply) : [],
    sources: [],
    found: new Map(),
    isCrossNamespaceAllowed,
    home: isMoveAwaited(stage, apply, where) ? await homeOf(live, apply, where, where.workspace.spec) : undefined,
    ...(await luggageOf(read, apply, live, stage, workspace)),
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
  const home = await homeOnArrival(live, { ...seen, found })
  return { ...seen, dependencies, sources, found, ...vars, home }
}

// What the Namespace says is asked for only where it matters: few applies are on a state of another's name.
async function placeOf(
  read: Read,
  apply: Apply,
  live: Live,
  template: WorkspaceTemplate | undefined,
  options: Options,
): Promise<Place | Nowhere> {
  const place = whereIs(read, apply, template, options)
  if (place.is !== 'none' || place.reason !== 'StateMissing') return place
  const namespace = await getIfThere(live, Namespace, { name: apply.metadata.namespace ?? '' })
  const allowed = namespace?.metadata.annotations?.[annotations.allowedStates]?.split(',') ?? []
  return whereIs(
    read,
    apply,
    template,
    options,
    allowed.map((each) => each.trim()),
  )
}

// In a pause, and only where Crossplane runs Terraform: our engine answers for itself.
function isMoveAwaited(
  stage: Stage,
  apply: Apply,
  where: Where | Nowhere,
): where is Where & { readonly workspace: Workspace } {
  const isThere = where.is === 'known' && where.isCrossplane && where.workspace !== undefined
  return stage === 'paused' && isThere && isBlocked(apply)
}

type Renderable = Pick<Seen, 'apply' | 'template' | 'where' | 'found' | 'isCrossNamespaceAllowed'>

async function homeOnArrival(live: Live, seen: Renderable & Pick<Seen, 'luggage'>): Promise<Seen['home']> {
  const { apply, where } = seen
  if (where.is === 'none' || !where.isCrossplane || where.workspace || !builtElsewhere(seen)) return undefined
  const rendered = rendering(seen)
  return rendered && homeOf(live, apply, where, rendered.spec)
}

// As far as it is known by now; the salt changes nothing but the revision.
function rendering({ template, where, ...seen }: Renderable): Rendered | undefined {
  if (!template || where.is === 'none') return undefined
  const rendered = render({ ...seen, template, api: where.api, workspace: where.name, salt: seal('') })
  return rendered.is === 'refused' ? undefined : rendered
}

async function heard(read: Read, live: Live, place: Place | Nowhere): Promise<Where | Nowhere> {
  if (place.is === 'none') return place
  const { api, workspace } = place
  return { ...place, silentAt: workspace && (await silentAt(read, live, api, workspace)) }
}

// Unread. Where the cache knows of none, it is asked whether there is one at all: it may be somebody else's.
async function luggageOf(
  read: Read,
  apply: Apply,
  live: Live,
  stage: Stage,
  workspace: Workspace | undefined,
): Promise<Pick<Seen, 'luggage' | 'isLuggageBarred' | 'isLuggageLost'>> {
  const key = beside(apply, stateSecretNameOf(apply.metadata))
  const isWanted = isStaying(stage)
  const wasAsked = apply.metadata.annotations?.[annotations.workspace] !== undefined
  const isHere = workspace !== undefined || apply.status?.workspaceName !== undefined
  const mayBeLost = (isWanted || stage === 'leaving') && wasAsked && !isHere
  const known = read.get(Secret, key) ?? (isWanted || mayBeLost ? await getIfThere(live, Secret, key) : undefined)
  const { [annotations.apply]: whose } = known?.metadata.annotations ?? {}
  // Stripped where it belongs it is marked again, and filled. Where it arrives so, nobody knows what is in it.
  const isStripped = whose === undefined && isHere && isOwnedBy(apply, known)
  const isOurs = whose === tellKey(keyOf(apply)) || isStripped
  return {
    luggage: known && isOurs ? { metadata: known.metadata } : undefined,
    isLuggageBarred: known ? !isOurs : isWanted && workspace !== undefined && (await isNamespaceLeaving(apply, live)),
    // In a namespace that goes its Secret may have gone before it.
    isLuggageLost: mayBeLost && !(known && isOurs) && (isWanted || !(await isNamespaceLeaving(apply, live))),
  }
}

function isOwnedBy({ metadata: { uid } }: Apply, secret: Pick<Secret, 'metadata'> | undefined): boolean {
  return uid !== undefined && secret?.metadata.ownerReferences?.some((owner) => owner.uid === uid) === true
}

function isStaying(stage: Stage): boolean {
  return stage === 'new' || stage === 'live'
}

function ownedBy(apply: Apply, found: Secret | undefined): Pick<Seen, 'secret' | 'isSecretTaken' | 'salt'> {
  const isOurs = found !== undefined && isSecretOf(apply, found)
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
async function varsOf(read: Read, live: Live, seen: Renderable): Promise<Secret | undefined> {
  const key = beside(seen.apply, varsSecretOf(seen.apply.metadata))
  if (!read.get(Secret, key) && !rendering(seen)?.secretVars) return undefined
  return getIfThere(live, Secret, key)
}
