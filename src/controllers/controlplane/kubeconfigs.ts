// What becomes of a control plane's Secrets, and what is said of them, of the endpoint and of the API server behind it. Pure.
import { CAPTControlPlane } from '../../api/captcontrolplane.ts'
import { type Said, vocabulary, wasSaid } from '../../api/condition.ts'
import { type Cluster, Secret } from '../../api/neighbours.ts'
import { keyOf, tellRef } from '../../api/resource.ts'
import type { Effect } from '../../runtime/plan.ts'
import { copyName, copyOf, isRenewed, type Material, type Role, roles, timesOf } from '../../secrets/copies.ts'
import { ownedBy, type Run } from '../childapply.ts'
import { clusterNameOf, connectionName } from './eks.ts'
import { endpointOf } from './endpoint.ts'
import type { Copy, Seen } from './seen.ts'

const say = vocabulary(CAPTControlPlane.words)

export interface Access {
  readonly effects: readonly Effect[]
  readonly secrets: Said
  readonly endpoint: Said
  readonly available: Said
  readonly isServing: boolean
  readonly againAfterSeconds: number | undefined // when nothing tells us to look again
}

// `run` is of the EKS cluster; undefined: Terraform was not asked for one yet.
export function accessOf(seen: Seen, cluster: Cluster, run: Run | undefined): Access {
  const { controlPlane, secrets } = seen
  const course = courseOf(seen, run)
  const endpoint = endpointOf(seen, cluster)
  const isUsable = course.secrets.status === 'True' && endpoint.said.status === 'True'
  const wasBegun = controlPlane.status?.initialization?.controlPlaneInitialized === true
  const isServing = isUsable && secrets.answer.is === 'yes'
  const available = isServing
    ? say('Available', 'Available')
    : secrets.answer.is === 'no'
      ? say('Available', 'NotAnswering', tellSilence(seen, secrets.answer.why))
      : run?.is !== 'done'
        ? say('Available', 'NotCreated', run?.why)
        : say(
            'Available',
            'ConnectionIncomplete',
            isUsable
              ? `the API server of ${clusterNameOf(controlPlane)} was not asked yet`
              : (lacking([course.secrets, endpoint.said]) ?? ''),
          )
  return {
    effects: [...course.effects, ...(isServing || wasBegun ? endpoint.effects : []), ...counted(course, controlPlane)],
    secrets: course.secrets,
    endpoint: endpoint.said,
    available,
    isServing,
    againAfterSeconds: soonest([
      course.isUnsettled || secrets.answer.is === 'no' ? patienceOf(seen) : undefined,
      ...(course.isSettling ? [1] : []),
      untilRenewal(seen, course.effects),
    ]),
  }
}

// Once, not with every pass.
function counted({ fault, secrets }: Course, { status }: CAPTControlPlane): readonly Effect[] {
  if (fault === undefined || wasSaid(secrets, status?.conditions)) return []
  return [{ do: 'count', what: 'secretErrors', reason: fault }]
}

function lacking(said: readonly Said[]): string | undefined {
  return said.find(({ status }) => status !== 'True')?.message
}

function tellSilence({ cluster, controlPlane }: Seen, why: string): string {
  const name = typeof cluster === 'object' ? cluster.metadata.name : controlPlane.metadata.name
  return `the API server of ${name} does not answer: ${why}`
}

interface Course {
  readonly effects: readonly Effect[]
  readonly secrets: Said
  readonly isUnsettled?: boolean // it is to be tried again, though nothing changes here
  readonly isSettling?: boolean // a moment, and it can go on
  readonly fault?: Fault // that is counted
}

type Fault = 'ForeignSecret' | 'WrongType' | 'Incomplete' | 'NoCredential' | 'NotAnswering'

// A Secret that belongs to somebody else is left alone; the others are looked after all the same.
function courseOf(seen: Seen, run: Run | undefined): Course {
  const { copies, inTheWay } = seen.secrets
  const foreign = [...copies.values()]
    .map(({ secret }) => secret)
    .concat(inTheWay)
    .find((each) => isAnothers(seen, each))
  const course = clear(seen) ?? machine(seen, run)
  if (!foreign) return course
  const message = `${tellRef(Secret, keyOf(foreign))} belongs to ${tellOwner(foreign)}, and is left alone: delete it, or give the Cluster another name`
  return { ...course, secrets: say('SecretsReady', 'Failed', message), fault: 'ForeignSecret' }
}

// The type of a Secret cannot be changed.
function clear(seen: Seen): Course | undefined {
  const inTheWay = seen.secrets.inTheWay.filter((each) => !isAnothers(seen, each))
  if (inTheWay.length === 0) return undefined
  const message = `${inTheWay.map((each) => tellRef(Secret, keyOf(each))).join(', ')} has another type than cluster.x-k8s.io/secret, and is made anew`
  return {
    effects: inTheWay.map((object) => ({ do: 'delete', resource: Secret, object })),
    secrets: say('SecretsReady', 'ValidatingSecret', message),
    isSettling: true,
    fault: 'WrongType',
  }
}

// The seed's machine: WaitingForSecret, ValidatingSecret, Ready, Failed. What is good stays in place, and keeps it Ready.
function machine(seen: Seen, run: Run | undefined): Course {
  const { credential, answer } = seen.secrets
  switch (credential.is) {
    case 'kept': {
      // One that nobody ever answered to is not good by lying there.
      const before = seen.controlPlane.status?.conditions?.find(({ type }) => type === 'SecretsReady')
      if (answer.is === 'yes' || before?.status === 'True')
        return { effects: [], secrets: say('SecretsReady', 'Ready') }
      const why = answer.is === 'no' ? `: ${answer.why}` : ''
      const message = `the API server has not answered yet with Secret ${copyName('kubeconfig', clusterNameOf(seen.controlPlane))}${why}`
      return { effects: [], secrets: say('SecretsReady', 'ValidatingSecret', message) }
    }
    case 'none': {
      const lack = lackOf(seen, run)
      return { ...keptOr(seen, lack), ...(lack.reason === 'Failed' && { fault: 'Incomplete' }) }
    }
    case 'refused': {
      const word = credential.isFinal ? 'Failed' : 'ValidatingSecret'
      const again = credential.isFinal ? '' : '; it is tried again'
      const course = keptOr(seen, say('SecretsReady', word, `no kubeconfig can be made: ${credential.why}${again}`))
      return { ...course, isUnsettled: !credential.isFinal, fault: 'NoCredential' }
    }
    case 'fresh': {
      const { material, answer: told } = credential
      if (told.is === 'yes') return { effects: write(seen, material), secrets: say('SecretsReady', 'Ready') }
      const why = told.is === 'no' ? told.why : 'it was not asked'
      const message = `the API server does not answer with the new kubeconfig: ${why}`
      const said = say('SecretsReady', 'ValidatingSecret', message)
      if (isGood(seen)) return { ...keptOr(seen, said), isUnsettled: true, fault: 'NotAnswering' }
      return { effects: write(seen, material), secrets: said, isUnsettled: true, fault: 'NotAnswering' }
    }
  }
}

// What there is that is good is not given up for what is not.
function keptOr(seen: Seen, said: Said): Course {
  if (!isGood(seen)) return { effects: [], secrets: said }
  return { effects: [], secrets: say('SecretsReady', 'Ready', `the last good kubeconfig stays: ${said.message}`) }
}

// The API server has answered with it, as far as we know, and it has not expired.
function isGood({ controlPlane, secrets: { copies }, now }: Seen): boolean {
  if (controlPlane.status?.initialization?.controlPlaneInitialized !== true) return false
  const isGoodCopy = (copy: Copy | undefined) => {
    if (!copy?.isIntact) return false
    const { expires } = timesOf(copy.secret)
    return expires === undefined || expires > now
  }
  return roles.filter(isRenewed).every((role) => isGoodCopy(copies.get(role)))
}

function lackOf({ controlPlane, eks, secrets: { connection } }: Seen, run: Run | undefined): Said {
  const name = `Secret ${connectionName(controlPlane, eks)}`
  if (run === undefined) return say('SecretsReady', 'WaitingForSecret', `waits for ${name}, which Terraform writes`)
  if (typeof connection === 'string') {
    const why =
      run.is === 'done'
        ? 'it is not there, although Terraform is done: the engine writes it again when it looks next'
        : run.why
    return say('SecretsReady', 'WaitingForSecret', `waits for ${name}: ${why}`)
  }
  const message = `${name}: ${connection.complaints.join('; ')}`
  return run.is === 'done' ? say('SecretsReady', 'Failed', message) : say('SecretsReady', 'WaitingForSecret', message)
}

// As it should be, and good for a while.
export function isFine(role: Role, copy: Copy | undefined, now: Date): boolean {
  return copy?.isIntact === true && copy.isCurrent && !(isRenewed(role) && isDue(copy, now))
}

function isDue({ secret }: Copy, now: Date): boolean {
  const { expires, renews = expires } = timesOf(secret)
  return renews !== undefined && renews <= now
}

// What is not fine and is ours to write. The two with a token in them have the same one.
function write(seen: Seen, material: Material): readonly Effect[] {
  const { copies, inTheWay } = seen.secrets
  const isTaken = (role: Role) => {
    const name = copyName(role, clusterNameOf(seen.controlPlane))
    const secret = copies.get(role)?.secret ?? inTheWay.find(({ metadata }) => metadata.name === name)
    return secret !== undefined && isAnothers(seen, secret)
  }
  const due = roles.filter((role) => !isTaken(role) && !isFine(role, copies.get(role), seen.now))
  const isTokenDue = due.some(isRenewed)
  const all = roles.filter((role) => due.includes(role) || (isTokenDue && isRenewed(role) && !isTaken(role)))
  return all.map((role) => putting(role, seen, material))
}

function putting(role: Role, { controlPlane, secrets: { revision } }: Seen, material: Material): Effect {
  const { namespace } = controlPlane.metadata
  const whose = { namespace, cluster: clusterNameOf(controlPlane), owner: ownedBy(controlPlane), revision }
  return { do: 'apply', resource: Secret, object: copyOf(role, whose, material) }
}

// All that is done while it is paused: a token that is due is renewed where one is.
export function renewed(seen: Seen): Pick<Access, 'effects' | 'againAfterSeconds'> {
  const { copies, credential } = seen.secrets
  const tokens = roles.filter(isRenewed).map((role) => copies.get(role))
  const isWanted = tokens.every((copy) => copy?.isIntact) && tokens.some((copy) => copy && isDue(copy, seen.now))
  const isBetter = credential.is === 'fresh' && (credential.answer.is === 'yes' || !isGood(seen))
  const effects =
    isWanted && isBetter ? roles.filter(isRenewed).map((role) => putting(role, seen, credential.material)) : []
  const mayCome = credential.is === 'fresh' || (credential.is === 'refused' && !credential.isFinal)
  const isBehind = isWanted && !isBetter && mayCome
  return { effects, againAfterSeconds: soonest([isBehind ? patienceOf(seen) : undefined, untilRenewal(seen, effects)]) }
}

// Until the next moment at which a token in the Secrets as they will be is due, or is over.
function untilRenewal(
  { controlPlane, secrets: { copies }, now }: Seen,
  effects: readonly Effect[],
): number | undefined {
  const written = effects.flatMap((each) => (each.do === 'apply' ? [each.object] : []))
  const moments = roles.filter(isRenewed).flatMap((role) => {
    const name = copyName(role, clusterNameOf(controlPlane))
    const secret = written.find(({ metadata }) => metadata.name === name) ?? copies.get(role)?.secret
    return secret ? Object.values(timesOf(secret)) : []
  })
  const seconds = moments.map((each) => each && Math.ceil((each.getTime() - now.getTime()) / 1000))
  return soonest(seconds.filter((each) => each !== undefined && each > 0))
}

function isAnothers({ controlPlane }: Seen, { metadata: { ownerReferences = [] } }: Secret): boolean {
  const controller = ownerReferences.find((each) => each.controller)
  if (!controller) return false
  return controller.kind !== controlPlane.kind || controller.name !== controlPlane.metadata.name
}

function tellOwner({ metadata: { ownerReferences = [] } }: Secret): string {
  const { kind = '', name = '' } = ownerReferences.find((each) => each.controller) ?? {}
  return `${kind} ${name}`
}

// The longer it has been so, the less often it is tried.
function patienceOf({ controlPlane: { status }, secrets: { copies }, now }: Seen): number {
  const copy = copies.get('kubeconfig')
  const told = ['Available', 'SecretsReady'].map((type) =>
    status?.conditions?.find((each) => each.type === type && each.status === 'False'),
  )
  const since = [...told.map((each) => Date.parse(each?.lastTransitionTime ?? '')), dueMs(copy)]
  const longest = Math.max(0, ...since.filter((each) => each <= now.getTime()).map((each) => now.getTime() - each))
  return Math.min(60, Math.max(5, Math.round(longest / 1000)))
}

function dueMs(copy: Copy | undefined): number {
  return (copy && timesOf(copy.secret).renews?.getTime()) ?? Number.NaN
}

export function soonest(seconds: readonly (number | undefined)[]): number | undefined {
  const known = seconds.filter((each) => each !== undefined)
  return known.length > 0 ? Math.min(...known) : undefined
}
