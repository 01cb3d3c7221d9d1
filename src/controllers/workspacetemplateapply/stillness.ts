// How a Workspace pauses with its apply, is made ready to be moved meanwhile, and goes on as it was. It is written under a field manager of
// its own, beside which what we want of it stands. No I/O, no clock, no memory.
import { annotations } from '../../api/keys.ts'
import { isRecord, type JsonRecord, readJson } from '../../api/record.ts'
import { crossplane, type Workspace, type WorkspaceAPI, type WorkspaceSpec } from '../../api/workspace.ts'
import type { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'
import type { Effect } from '../../runtime/plan.ts'
import { orphaned } from '../../terraform/policies.ts'
import { workspaceKey } from './relations.ts'
import type { Seen, Where } from './seen.ts'

type Apply = WorkspaceTemplateApply
type Notes = Readonly<Record<string, string>>

const fieldManager = 'capt-pause'

// A pause that a user has set before stays the user's. What goes already is only paused: it is not to be moved.
export function still({ apply, now }: Pick<Seen, 'apply' | 'now'>, where: Where, workspace: Workspace): Effect {
  const notes = workspace.metadata.annotations ?? {}
  const isTheirs = isPaused(workspace) && notes[annotations.paused] === undefined
  const pause = isTheirs ? {} : ours
  const isGoing = workspace.metadata.deletionTimestamp !== undefined
  return isGoing
    ? say(apply, where, workspace, pause)
    : say(
        apply,
        where,
        workspace,
        { ...pause, ...ready(apply, where, workspace, now) },
        orphaned(where.api, workspace.spec),
      )
}

export const ours = { [crossplane.paused]: 'true', [annotations.paused]: 'true' }

// That it may go, and what it was before. The date is a new one whenever somebody has let it go on meanwhile: what was answered to the
// one before counts no more.
function ready({ metadata: { uid = '' } }: Apply, { api }: Where, workspace: Workspace, now: Date): Notes {
  const notes = workspace.metadata.annotations ?? {}
  const since = isPaused(workspace) ? notes[annotations.moved] : undefined
  const { policies = policiesIn(api, workspace) } = beforeOf(workspace) ?? {}
  return {
    [annotations.moved]: since ?? now.toISOString(),
    [annotations.before]: JSON.stringify({ apply: uid, ...policies }),
  }
}

function say(apply: Apply, { api, name }: Where, { apiVersion, kind }: Workspace, notes: Notes, spec?: object): Effect {
  const metadata = { ...workspaceKey(api, apply, name), annotations: notes }
  const object = { apiVersion, kind, metadata, ...(spec && { spec }) }
  return { do: 'apply', resource: api.workspace, object, fieldManager }
}

export function isPaused({ metadata }: Workspace): boolean {
  return metadata.annotations?.[crossplane.paused] === 'true'
}

export interface Before {
  readonly apply: string // uid of the one that paused it
  readonly policies: JsonRecord // that it had, as fields of its spec
}

export function beforeOf({ metadata }: Workspace): Before | undefined {
  const note = readJson(metadata.annotations?.[annotations.before] ?? '')
  if (!isRecord(note)) return undefined
  const { apply, ...policies } = note
  return { apply: typeof apply === 'string' ? apply : '', policies }
}

function policiesIn({ isNamespaced }: WorkspaceAPI, { spec }: Workspace): JsonRecord {
  const { managementPolicies = null, deletionPolicy = null } = spec
  return isNamespaced ? { managementPolicies } : { managementPolicies, deletionPolicy }
}

// What a user has paused stays so, and what is to be kept paused, too, but nothing else of it. What it may do is what `asked` says, or what it
// could do before. All of it is taken back by name: what came from a backup does not tell any more who wrote it.
export function resume(
  { pause }: Pick<Seen, 'pause'>,
  { api }: Where,
  workspace: Workspace,
  asked?: Pick<WorkspaceSpec, 'managementPolicies' | 'deletionPolicy'>,
): readonly Effect[] {
  const { [annotations.paused]: paused, [annotations.moved]: moved } = workspace.metadata.annotations ?? {}
  const goesOn = paused !== undefined && !pause.isKept
  if (!goesOn && moved === undefined) return []
  const notes = [...(goesOn ? Object.keys(ours) : []), annotations.moved, annotations.before]
  const policies = asked ? unsaid(api, asked) : beforeOf(workspace)?.policies
  const change = {
    metadata: { annotations: Object.fromEntries(notes.map((each) => [each, null])) },
    ...(policies && Object.keys(policies).length > 0 && { spec: policies }),
  }
  return [{ do: 'patch', resource: api.workspace, object: workspace, change }]
}

// What is not asked for is as the API server fills it in.
function unsaid(
  { isNamespaced }: WorkspaceAPI,
  asked: Pick<WorkspaceSpec, 'managementPolicies' | 'deletionPolicy'>,
): JsonRecord {
  const fields = isNamespaced ? (['managementPolicies'] as const) : (['managementPolicies', 'deletionPolicy'] as const)
  return Object.fromEntries(fields.filter((each) => asked[each] === undefined).map((each) => [each, null]))
}
