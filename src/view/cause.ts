// The one reason worth reading: why the whole is not as it should be, by the object that knows, and what to do about it. Pure.
import type { Node } from './node.ts'
import { type Standing, standings } from './words.ts'

export interface Cause {
  readonly kind: string
  readonly name?: string
  readonly standing: Standing
  readonly state: string
  readonly since?: string
  readonly message?: string // why
  readonly advice?: string // what to do
  readonly command?: string // that does it
}

// The worst there is; of that the deepest that says why. What waits because of another is named only where nothing else is to say.
export function causeIn(tree: Node): Cause | undefined {
  for (const standing of standings.toReversed()) {
    if (standing === 'ready') return undefined
    const found = find(tree, (node) => node.standing === standing && Boolean(node.message))
    const silent = found ?? find(tree, (node) => node.standing === standing && node.name !== undefined)
    const node = standing === 'paused' ? first(tree, (each) => each.standing === standing) : silent
    if (node) return told(node)
  }
  return undefined
}

function find(node: Node, isIt: (node: Node) => boolean): Node | undefined {
  for (const child of node.children) {
    const found = find(child, isIt)
    if (found) return found
  }
  return isIt(node) ? node : undefined
}

// Who is paused pauses all below.
function first(node: Node, isIt: (node: Node) => boolean): Node | undefined {
  if (isIt(node)) return node
  for (const child of node.children) {
    const found = first(child, isIt)
    if (found) return found
  }
  return undefined
}

function told(node: Node): Cause {
  const { kind, name, standing, state, since } = node
  return {
    kind,
    ...(name !== undefined && { name }),
    standing,
    state,
    ...(since !== undefined && { since }),
    ...counselOf(node),
  }
}

type Counsel = Pick<Cause, 'message' | 'advice' | 'command'>

// Messages of ours end with what to do: `why (class: hint: command)`, or `why. To approve: command`.
function counselOf(node: Node): Counsel {
  const { message = '', standing } = node
  const restoring = restoringIn(message)
  if (restoring) return restoring
  const command = /kubectl (?:annotate|patch|delete|edit|label) [^()]*$/.exec(message.replace(/\)$/, ''))?.[0]?.trim()
  const why = command === undefined ? message : message.slice(0, message.lastIndexOf(command))
  const by = command === undefined ? {} : { command }
  const hinted = node.failureClass === undefined ? undefined : hintIn(why, node.failureClass)
  if (hinted) return { ...hinted, ...by }
  const asked = /^(?<why>.*?)[.,;]? (?<advice>(?:To|or) [a-z ]+):? *$/s.exec(why)?.groups
  if (command !== undefined && asked)
    return { message: asked['why'] ?? '', advice: (asked['advice'] ?? '').replace(/^To /, 'to '), ...by }
  const rest = { ...(why && { message: why.replace(/[:\s]+$/, '') }), ...by }
  if (standing === 'paused') return { ...rest, ...howToResume(node) }
  if (standing === 'working') return { ...rest, advice: 'nothing to do: it is at work' }
  if (command !== undefined || standing === 'waiting') return rest
  return { ...rest, ...(!/: \w/.test(message) && lookAt(node)) }
}

// Of a state that is missing: `why: restore it (command), or, if nothing is left of it, …`. What would make all of it anew is no advice.
function restoringIn(message: string): Counsel | undefined {
  const found = /^(?<why>.*?)[:;] (?<advice>[^:;]*) \((?<command>capt state restore [^()]*)\)/s.exec(message)?.groups
  const { why = '', advice = '', command = '' } = found ?? {}
  return found && { message: why, advice, command }
}

function hintIn(message: string, failureClass: string): Counsel | undefined {
  const opening = failureClass === 'unknown' ? ' (' : ` (${failureClass}: `
  const at = message.lastIndexOf(opening)
  if (at < 0) return undefined
  const advice = message.slice(at + opening.length).replace(/[):\s]+$/, '')
  return { message: message.slice(0, at), advice }
}

function howToResume({ kind, name = '', namespace }: Node): Counsel {
  const where = namespace === undefined ? '' : ` --namespace ${namespace}`
  const advice = 'nothing is done until it is resumed'
  if (kind === 'Cluster') {
    return { advice, command: `kubectl patch cluster ${name}${where} --type=merge -p '{"spec":{"paused":false}}'` }
  }
  if (kind === 'Workspace') return { advice: `${advice} (annotation crossplane.io/paused)` }
  return { advice, command: `kubectl annotate ${kind.toLowerCase()} ${name}${where} cluster.x-k8s.io/paused-` }
}

function lookAt({ kind, name, namespace }: Node): Counsel {
  if (name === undefined) return {}
  const where = namespace === undefined ? '' : ` --namespace ${namespace}`
  return { advice: 'look closer', command: `kubectl describe ${kind.toLowerCase()} ${name}${where}` }
}
