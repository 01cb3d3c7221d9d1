// Looks at everything an apply depends on: from the cache what is there, by a live read the bytes of Secrets and ConfigMaps. It
// decides nothing.
import { randomBytes } from 'node:crypto'
import { annotations } from '../../api/keys.ts'
import { ConfigMap, CustomResourceDefinition, Namespace, Secret } from '../../api/neighbours.ts'
import { readJson } from '../../api/record.ts'
import {
  groupOf,
  type Key,
  type KubeObject,
  keyOf,
  type Resource,
  resourceName,
  tellKey,
  tellRef,
} from '../../api/resource.ts'
import { seal } from '../../api/sealed.ts'
import { crossplane, type Workspace, type WorkspaceAPI, workspaceAPIs, workspaceGroups } from '../../api/workspace.ts'
import { WorkspaceTemplate } from '../../api/workspacetemplate.ts'
import { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'
import { isNotFound } from '../../kube/errors.ts'
import type { Read } from '../../runtime/cache.ts'
import type { Live } from '../../runtime/controller.ts'
import type { Settings } from '../../runtime/settings.ts'
import { externalNameOf, varsSecretOf, workspaceNameOf } from '../../terraform/identity.ts'
import { pick, pickConnection } from '../../terraform/outputs.ts'
import { progressOf } from '../../terraform/progress.ts'
import { type Found, render } from '../../terraform/render.ts'
import { type Dependency, dependencyOnApply, dependencyOnWorkspace, ringOf } from './dependencies.ts'
import { chooseEngine } from './engines.ts'
import { beside, byUse, recordedOn, templateOf, waitedForBy, workspaceKey } from './relations.ts'
import { saltIn } from './secretvars.ts'
import type { Nowhere, Seen, Source, Where } from './seen.ts'

type Apply = WorkspaceTemplateApply
type Options = Pick<Settings, 'workspaceAPI' | 'isCrossNamespaceAllowed'>

export const ours = 'ours' // index of Workspaces: those that are labelled as ours
const silentMs = 120_000

export async function observe(read: Read, apply: Apply, live: Live, options: Options): Promise<Seen> {
  const { isCrossNamespaceAllowed } = options
  const isLeaving = apply.metadata.deletionTimestamp !== undefined
  const isHere = (namespace = apply.metadata.namespace) =>
    isCrossNamespaceAllowed || namespace === apply.metadata.namespace
  const template = isHere(apply.spec.templateRef.namespace) ? read.get(WorkspaceTemplate, templateOf(apply)) : undefined
  const where = whereIs(read, apply, template, live.now(), options)
  const workspace = where.is === 'known' ? where.workspace : undefined
  const find = (name: string) => read.get(WorkspaceTemplateApply, beside(apply, name))
  const seen = {
    apply,
    now: live.now(),
    template,
    where,
    isNamespaceLeaving:
      workspace?.metadata.deletionTimestamp !== undefined && !isLeaving && (await isNamespaceLeaving(apply, live)),
    ring: ringOf(apply, find),
    isCrossNamespaceAllowed,
  }
  if (isLeaving) {
    const secret = await get(live, Secret, beside(apply, varsSecretOf(apply.metadata)))
    const dependents = dependentsOf(read, apply)
    return {
      ...seen,
      dependencies: [],
      dependents,
      sources: [],
      found: new Map(),
      secret,
      salt: saltIn(secret) ?? fresh(),
    }
  }
  const waited = await Promise.all(
    (workspace ? [] : (apply.spec.waitForSecrets ?? []))
      .filter(({ namespace }) => isHere(namespace))
      .map(async ({ name, namespace }) =>
        dependencyOnSecret(namespace ? { namespace, name } : beside(apply, name), live),
      ),
  )
  const dependencies = [...waited, ...waitedForBy(apply).map((name) => dependencyOn(read, apply, name))]
  const { found, sources } = await valuesOf(read, apply, live)
  const secret = await varsOf(read, live, { ...seen, found })
  return { ...seen, dependencies, dependents: [], sources, found, secret, salt: saltIn(secret) ?? fresh() }
}

const fresh = () => seal(randomBytes(16).toString('hex'))

// A Workspace stays in the API it was made in, under the name it was made with.
function whereIs(
  read: Read,
  apply: Apply,
  template: WorkspaceTemplate | undefined,
  now: Date,
  { workspaceAPI }: Options,
): Where | Nowhere {
  const crdOf = (api: WorkspaceAPI) => read.get(CustomResourceDefinition, { name: resourceName(api.workspace) })
  const place = (api: WorkspaceAPI, name: string): Where | Nowhere => {
    const crd = crdOf(api)
    const workspace = read.get(api.workspace, workspaceKey(api, apply, name))
    const externalName = externalNameFor(api, apply, name, workspace)
    if (externalName === undefined) return { is: 'none', reason: 'StateMissing', message: notProven }
    return {
      is: 'known',
      api,
      isServed: crd !== undefined,
      isCrossplane: (crd?.metadata.ownerReferences ?? []).some(({ apiVersion }) =>
        groupOf(apiVersion).endsWith('.crossplane.io'),
      ),
      name,
      externalName,
      isRecorded: apply.status?.workspaceName === name,
      workspace,
      silentAt: workspace && silentAt(read, api, workspace, now),
    }
  }
  const recorded = recordedOn(apply)
  if (recorded) return place(workspaceAPIs[recorded.group], recorded.name)
  // The predecessor wrote down a name and no group.
  const old = apply.status?.workspaceName
  const apis = workspaceGroups.map((group) => workspaceAPIs[group])
  const api = old && apis.find((each) => read.get(each.workspace, workspaceKey(each, apply, old)))
  if (api) return place(api, old)
  const choice = chooseEngine({
    asked: template?.spec.workspaceAPI ?? workspaceAPI,
    isServed: (group) => crdOf(workspaceAPIs[group]) !== undefined,
    hasOurs: (group) => read.keysAt(workspaceAPIs[group].workspace, ours, '').length > 0,
  })
  if (choice.is === 'none') return choice
  const chosen = workspaceAPIs[choice.group]
  return place(chosen, old ?? workspaceNameOf(chosen, keyOf(apply)))
}

const notProven =
  'annotations of the apply name a Workspace or a state outside of its namespace, and nothing proves that they were ever its own: remove them'

// The state is found by it: what an adopted Workspace had it keeps, also when that has to be made again. Undefined: it would be
// a state that may well be somebody else's, for anybody who may write an apply can write its annotations.
function externalNameFor(
  api: WorkspaceAPI,
  apply: Apply,
  name: string,
  workspace: Workspace | undefined,
): string | undefined {
  const { namespace = '', annotations: notes = {} } = apply.metadata
  const isUsual = name === workspaceNameOf(api, keyOf(apply))
  const isOwn = (each: string) => each === apply.status?.workspaceName || each.startsWith(`${namespace}.`)
  if (!isUsual && !api.isNamespaced && !isOwn(name)) return undefined
  const told = workspace?.metadata.annotations?.[crossplane.externalName]
  if (told !== undefined) return told
  const kept = notes[annotations.externalName] ?? (isUsual ? undefined : name)
  if (kept === undefined) return externalNameOf(keyOf(apply))
  return isOwn(kept) ? kept : undefined
}

function silentAt(
  read: Read,
  { workspace: resource }: WorkspaceAPI,
  workspace: Workspace,
  now: Date,
): number | undefined {
  if (progressOf(workspace).is !== 'waiting') return undefined
  const patient = Date.parse(workspace.metadata.creationTimestamp ?? '') + silentMs
  if (now.getTime() < patient) return patient
  const signs = read.list(resource).flatMap(signsOn)
  return signs.reduce((last, each) => Math.max(last, each + silentMs), patient)
}

function signsOn({ metadata, status }: Workspace): readonly number[] {
  const { createPending, createSucceeded, createFailed } = crossplane
  const notes = [createPending, createSucceeded, createFailed].map((name) => metadata.annotations?.[name])
  const times = [...notes, ...(status?.conditions ?? []).map(({ lastTransitionTime }) => lastTransitionTime)]
  return times.flatMap((time) => (time === undefined ? [] : [Date.parse(time)])).filter((time) => !Number.isNaN(time))
}

async function isNamespaceLeaving({ metadata: { namespace = '' } }: Apply, live: Live): Promise<boolean> {
  const found = await get(live, Namespace, { name: namespace })
  return found?.metadata.deletionTimestamp !== undefined
}

async function dependencyOnSecret(key: Key, live: Live): Promise<Dependency> {
  const isThere = (await get(live, Secret, key)) !== undefined
  return { what: 'Secret', name: key.name, is: isThere ? 'ready' : 'waiting', why: '' }
}

function dependencyOn(read: Read, apply: Apply, name: string): Dependency {
  const other = read.get(WorkspaceTemplateApply, beside(apply, name))
  if (other) return dependencyOnApply(name, other)
  const workspaces = Object.values(workspaceAPIs).map((api) => read.get(api.workspace, workspaceKey(api, apply, name)))
  return dependencyOnWorkspace(
    name,
    workspaces.find((each) => each !== undefined),
  )
}

function dependentsOf(read: Read, apply: Apply): readonly string[] {
  return read
    .byIndex(WorkspaceTemplateApply, byUse, tellKey(keyOf(apply)))
    .filter((each) => each.metadata.name !== apply.metadata.name && workspaceOf(read, each) !== undefined)
    .map(({ metadata }) => metadata.name)
    .toSorted()
}

function workspaceOf(read: Read, apply: Apply): Workspace | undefined {
  const recorded = recordedOn(apply)
  if (!recorded) return undefined
  const api = workspaceAPIs[recorded.group]
  return read.get(api.workspace, workspaceKey(api, apply, recorded.name))
}

interface Values {
  readonly found: ReadonlyMap<string, Found>
  readonly sources: readonly Source[]
}

async function valuesOf(read: Read, apply: Apply, live: Live): Promise<Values> {
  const found = new Map<string, Found>()
  const sources = new Map<string, Source | undefined>()
  // Each once, however many variables come from it.
  const from = async (resource: Resource<Secret | ConfigMap>, name: string) => {
    const id = tellRef(resource, { name })
    if (!sources.has(id)) {
      const object = await get(live, resource, beside(apply, name))
      sources.set(id, object && { resource, object })
    }
    return sources.get(id)?.object.data
  }
  for (const { name, apply: other, secret, configMap } of apply.spec.variablesFrom ?? []) {
    if (other) found.set(name, await outputOf(read, apply, live, other))
    if (secret) {
      const data = await from(Secret, secret.name)
      found.set(name, valueIn(`Secret ${secret.name}`, secret, data && decoded(data), true))
    }
    if (configMap) {
      const data = await from(ConfigMap, configMap.name)
      found.set(name, valueIn(`ConfigMap ${configMap.name}`, configMap, data, false))
    }
  }
  return { found, sources: [...sources.values()].filter((each) => each !== undefined) }
}

interface Ref {
  readonly key: string
  readonly format: 'Text' | 'JSON'
}

type Texts = Readonly<Record<string, string | undefined>>

function valueIn(what: string, { key, format }: Ref, data: Texts | undefined, isSensitive: boolean): Found {
  if (!data) return missing(`${what} is not there`)
  if (!Object.hasOwn(data, key)) return missing(`${what} has no key ${key}`)
  const text = data[key]
  if (text === undefined) return missing(`key ${key} of ${what} is not UTF-8 text`)
  const value = format === 'JSON' ? readJson(text) : text
  return value === undefined ? missing(`key ${key} of ${what} is not JSON`) : { is: 'known', value, isSensitive }
}

function missing(why: string): Found {
  return { is: 'missing', why }
}

function decoded(data: Readonly<Record<string, string>>): Texts {
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, textOf(value)]))
}

function textOf(base64: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(base64, 'base64'))
  } catch {
    return undefined
  }
}

// What is not told in its status is sensitive, or too large, and is in its connection Secret.
async function outputOf(
  read: Read,
  apply: Apply,
  live: Live,
  { name, output }: { readonly name: string; readonly output: string },
): Promise<Found> {
  const other = read.get(WorkspaceTemplateApply, beside(apply, name))
  if (!other || dependencyOnApply(name, other).is !== 'ready') return missing(`apply ${name} has not converged`)
  const plain = pick(other.status?.outputs, output)
  if (plain !== undefined) return { is: 'known', value: plain, isSensitive: false }
  const { name: secret, namespace } = workspaceOf(read, other)?.spec.writeConnectionSecretToRef ?? {}
  const isHere = namespace === undefined || namespace === apply.metadata.namespace
  const connection = secret && isHere ? await get(live, Secret, beside(apply, secret)) : undefined
  const value = pickConnection(connection?.data ?? {}, output)
  return value === undefined
    ? missing(`apply ${name} has no output ${output}`)
    : { is: 'known', value, isSensitive: true }
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
  return get(live, Secret, key)
}

async function get<T extends KubeObject>(live: Live, resource: Resource<T>, key: Key): Promise<T | undefined> {
  try {
    return await live.get(resource, key)
  } catch (error) {
    if (isNotFound(error, key.name)) return undefined
    throw error
  }
}
