// What an object says of itself, in a word, and why it is not as it should be. Pure: of one object, not of those around it.
import { pausedAnnotation } from '../api/contract.ts'
import { isRecord, isTexts } from '../api/record.ts'
import { groupOf, type KubeObject } from '../api/resource.ts'
import { type Workspace, workspaceGroups } from '../api/workspace.ts'
import type { Failure } from '../terraform/failure.ts'
import { tellChanges } from '../terraform/plannote.ts'
import { progressOf } from '../terraform/progress.ts'
import { conditionOf, conditionsOf, specOf, statusOf, type Told } from './read.ts'
import { isWorse, type Standing, standingFor } from './words.ts'

export interface Says {
  readonly standing: Standing
  readonly state: string // a word or two
  readonly since?: string // when it became so
  readonly reason?: string // only when it is not ready
  readonly message?: string
}

interface Types {
  readonly main: string
  readonly others: readonly string[] // which say more of why, or of what goes on beside it
}

// An apply's Ready says what is worth reading of its others.
const typesOf: Readonly<Record<string, Types>> = {
  CAPTCluster: { main: 'Ready', others: ['VPCReady'] },
  CAPTControlPlane: {
    main: 'Available',
    others: ['EKSApplied', 'SpotRoleReady', 'SecretsReady', 'EndpointReady', 'RollingOut'],
  },
  CAPTMachineDeployment: { main: 'Available', others: ['Progressing'] },
}

const whenTrueTrouble = new Set(['RollingOut'])

export function saysOf(object: KubeObject): Says {
  const told = isWorkspace(object) ? workspaceSays(object) : conditionsSay(object)
  const paused = isPaused(object) ? whilePaused(told, object) : told
  return object.metadata.deletionTimestamp === undefined ? paused : leaving(object, paused)
}

function conditionsSay(object: KubeObject): Says {
  const { main: type, others } = typesOf[object.kind] ?? usualTypes(object)
  const main = conditionOf(object, type)
  if (!main) return withoutConditions(object)
  const trouble = worstOf(object, [main, ...others.map((each) => conditionOf(object, each))])
  if (main.status === 'True') {
    const drifted = conditionOf(object, 'Drifted')?.status === 'True' ? ', Drifted' : ''
    // What only waits tells nothing of what is there.
    if (!trouble || trouble.standing === 'waiting') return { ...ready(type + drifted), ...since(main) }
    return { ...trouble, state: `${type}, ${trouble.state}` }
  }
  return trouble ?? { standing: 'waiting', state: wordFor(type, main.reason), reason: main.reason, ...since(main) }
}

function usualTypes(object: KubeObject): Types {
  const told = new Set(conditionsOf(object).map(({ type }) => type))
  return { main: told.has('Available') ? 'Available' : 'Ready', others: [] }
}

type Trouble = Says & { readonly reason: string }

// Of two that are as bad, the one with something to say.
function worstOf(object: KubeObject, conditions: readonly (Told | undefined)[]): Trouble | undefined {
  const troubles = conditions.flatMap((each) => (each ? troubleIn(object, each) : []))
  return troubles.reduce<Trouble | undefined>((worst, each) => {
    if (!worst || isWorse(each.standing, worst.standing)) return each
    return each.standing === worst.standing && each.message && !worst.message ? each : worst
  }, undefined)
}

function troubleIn(object: KubeObject, condition: Told): readonly Trouble[] {
  const { type, status, reason, message } = condition
  if ((status === 'True') !== whenTrueTrouble.has(type)) return []
  const standing = standingFor(reason)
  const { applyingSince } = statusOf(object)
  return [
    {
      standing,
      state: wordFor(type, reason),
      reason,
      ...(message && { message }),
      ...since(condition),
      ...(standing === 'working' && typeof applyingSince === 'string' && { since: applyingSince }),
    },
  ]
}

// A word that says something without its condition.
function wordFor(type: string, reason: string): string {
  if (reason.startsWith('Waiting')) return 'Waiting'
  if (reason === '') return `not ${type}`
  return vague.has(reason) && type !== 'Ready' && type !== 'Available'
    ? `${type.replace(/Ready$/, '')} ${reason}`
    : reason
}

const vague = new Set(['Failed', 'Creating', 'Unknown'])

// Of a kind that says nothing: who should.
function silenceOf({ kind, apiVersion }: KubeObject): string {
  const isOurs = kind.startsWith('CAPT') || kind === 'WorkspaceTemplateApply'
  const who = isOurs ? 'capt-manager' : groupOf(apiVersion) === 'cluster.x-k8s.io' ? 'Cluster API' : 'its provider'
  return `nobody has said anything of it yet: see whether ${who} runs`
}

// Some kinds say it in another way, or not at all; a new object has said nothing yet.
function withoutConditions(object: KubeObject): Says {
  const { creationTimestamp } = object.metadata
  const born = creationTimestamp === undefined ? {} : { since: creationTimestamp }
  const { phase, ready: isReady, initialization } = statusOf(object)
  if (typeof phase === 'string' && phase !== '') {
    const standing = goodPhases.has(phase) ? 'ready' : standingFor(phase)
    return { standing, state: phase, ...born, ...(standing === 'failed' && { reason: phase }) }
  }
  const isProvisioned = isRecord(initialization) && initialization['provisioned'] === true
  if (isReady === true || isProvisioned) return { ...ready('Ready'), ...born }
  return { standing: 'waiting', state: 'New', message: silenceOf(object), ...born }
}

const goodPhases = new Set(['Running', 'Ready', 'Provisioned', 'Bound', 'Active'])

export function isPaused(object: KubeObject): boolean {
  return (
    object.metadata.annotations?.[pausedAnnotation] !== undefined ||
    specOf(object)['paused'] === true ||
    conditionOf(object, 'Paused')?.status === 'True'
  )
}

function whilePaused(told: Says, object: KubeObject): Says {
  const paused = conditionOf(object, 'Paused')
  const isReady = told.standing === 'ready'
  return {
    ...told,
    standing: 'paused',
    state: isReady ? `${told.state}, Paused` : 'Paused',
    reason: isReady ? 'Paused' : (told.reason ?? 'Paused'),
    ...(paused?.status === 'True' && since(paused)),
  }
}

// What hinders it is worth more than that it goes.
function leaving(object: KubeObject, told: Says): Says {
  const deleting = conditionOf(object, 'Deleting')
  const word = deleting?.status === 'True' && deleting.reason ? deleting.reason : 'Deleting'
  const message = deleting?.status === 'True' ? deleting.message : told.reason === 'Deleting' ? told.message : ''
  const { deletionTimestamp } = object.metadata
  const left = {
    reason: word,
    ...(message && { message }),
    ...(deletionTimestamp !== undefined && { since: deletionTimestamp }),
  }
  const isHindered = isRecord(statusOf(object)['failure']) || told.standing === 'failed'
  if (isHindered && message) return { standing: 'failed', state: 'Deleting, failed', ...left }
  if (isHindered || told.standing === 'asking' || told.standing === 'paused') {
    return { ...told, standing: isHindered ? 'failed' : told.standing, state: `Deleting, ${told.reason ?? told.state}` }
  }
  const standing = standingFor(word)
  if (standing === 'asking') return { standing, state: `Deleting, ${word}`, ...left }
  return { standing: word.startsWith('WaitingFor') ? 'waiting' : 'working', state: 'Deleting', ...left }
}

export function isWorkspace(object: KubeObject): object is Workspace {
  const group = groupOf(object.apiVersion)
  return object.kind === 'Workspace' && workspaceGroups.some((each) => each === group)
}

function workspaceSays(workspace: Workspace): Says {
  const conditions = conditionsOf(workspace).map(({ lastTransitionTime = '', ...each }) => ({
    ...each,
    lastTransitionTime,
  }))
  const { managementPolicies } = workspace.spec ?? {}
  const progress = progressOf({
    ...workspace,
    spec: {
      forProvider: { source: 'Inline', module: '' }, // it does not matter which
      ...(isTexts(managementPolicies) && { managementPolicies }),
    },
    status: { conditions },
  })
  const synced = since(conditionOf(workspace, 'Synced') ?? conditionOf(workspace, 'Ready'))
  const began = 'since' in progress && progress.since !== undefined ? { since: progress.since } : synced
  switch (progress.is) {
    case 'converged':
      return { ...ready(progress.isDrifted ? 'Ready, Drifted' : 'Ready'), ...synced }
    case 'planning':
      return working('Planning', began)
    case 'creating':
      return working('Creating', began)
    case 'applying':
      return working('Applying', began)
    case 'leaving':
      return progress.failure ? failed(progress.failure, synced) : working('Deleting', {})
    case 'failed':
      return failed(progress.failure, synced)
    case 'stateMissing':
      return { ...failed(progress.failure, synced), state: 'StateMissing', message: progress.failure.text }
    case 'held':
      return { standing: 'asking', state: 'Held', reason: 'Held', message: tellChanges(progress.note), ...synced }
    case 'planOnly':
      return { standing: 'asking', state: 'PlanOnly', reason: 'PlanOnly', ...synced }
    case 'paused':
      return { standing: 'paused', state: 'Paused', reason: 'Paused', ...synced }
    case 'waiting':
      return {
        standing: 'waiting',
        state: 'New',
        message: 'no engine has looked at it yet: see whether one runs',
        ...synced,
      }
  }
}

function ready(state: string): Says {
  return { standing: 'ready', state }
}

function working(state: string, when: Pick<Says, 'since'>): Says {
  return { standing: 'working', state, reason: state, ...when }
}

function failed({ summary, hint }: Failure, when: Pick<Says, 'since'>): Says {
  return { standing: 'failed', state: 'Failed', reason: 'Failed', message: `${summary} (${hint})`, ...when }
}

function since(condition: Told | undefined): Pick<Says, 'since'> {
  return condition?.lastTransitionTime ? { since: condition.lastTransitionTime } : {}
}
