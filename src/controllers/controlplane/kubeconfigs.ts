// What becomes of a control plane's Secrets, and what is said of them, of the endpoint and of the API server behind it. Pure.
import { CAPTControlPlane } from '../../api/captcontrolplane.ts'
import { type Said, vocabulary, wasSaid } from '../../api/condition.ts'
import { type Cluster, Secret } from '../../api/neighbours.ts'
import { isWithin } from '../../api/record.ts'
import { keyOf, tellRef } from '../../api/resource.ts'
import type { Effect } from '../../runtime/plan.ts'
import { type Connection, readConnection } from '../../secrets/connection.ts'
import { copyOf, isRenewed, type Material, type Role, roles, timesOf } from '../../secrets/copies.ts'
import { tellEndpoint } from '../../secrets/endpoint.ts'
import { ownedBy, type Run } from '../childapply.ts'
import { clusterNameOf, connectionName } from './eks.ts'
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
  const { controlPlane, secrets, now } = seen
  const course = courseOf(seen, run)
  const endpoint = endpointOf(seen, cluster)
  const isUsable = course.secrets.status === 'True' && endpoint.said.status === 'True'
  const wasBegun = controlPlane.status?.initialization?.controlPlaneInitialized === true
  const isServing = isUsable && secrets.answer.is === 'yes'
  const available = isServing
    ? say('Available', 'Available')
    : secrets.answer.is === 'no'
      ? say('Available', 'NotAnswering', tellSilence(seen, secrets.answer.why))
      : run === undefined || run.is !== 'done'
        ? say('Available', 'NotCreated', run?.why ?? 'Terraform was not asked for the control plane yet')
        : say(
            'Available',
            'ConnectionIncomplete',
            isUsable ? 'the API server was not asked yet' : (lacking([course.secrets, endpoint.said]) ?? ''),
          )
  return {
    effects: [...course.effects, ...(isServing || wasBegun ? endpoint.effects : []), ...counted(course, controlPlane)],
    secrets: course.secrets,
    endpoint: endpoint.said,
    available,
    isServing,
    againAfterSeconds: soonest([
      course.isUnsettled || secrets.answer.is === 'no' ? patienceOf(controlPlane, now) : undefined,
      ...(course.isSettling ? [1] : []),
      untilRenewal(seen),
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
  const advice = 'see whether its endpoint is reachable from here and whether its access entries let this identity in'
  const name = typeof cluster === 'object' ? cluster.metadata.name : controlPlane.metadata.name
  return `the API server of ${name} does not answer: ${why} (${advice})`
}

interface Course {
  readonly effects: readonly Effect[]
  readonly secrets: Said
  readonly isUnsettled?: boolean // it is to be tried again, though nothing changes here
  readonly isSettling?: boolean // a moment, and it can go on
  readonly fault?: Fault // that is counted
}

type Fault = 'ForeignSecret' | 'WrongType' | 'Incomplete' | 'NoCredential' | 'NotAnswering'

// The seed's machine: WaitingForSecret, ValidatingSecret, Ready, Failed. What is good stays in place, and keeps it Ready.
function courseOf(seen: Seen, run: Run | undefined): Course {
  const { secrets } = seen
  const all = [...secrets.copies.values()].map(({ secret }) => secret).concat(secrets.inTheWay)
  const foreign = all.find((each) => isAnothers(seen, each))
  if (foreign) {
    const message = `${tellRef(Secret, keyOf(foreign))} belongs to ${tellOwner(foreign)}, and is left alone: delete it, or give the Cluster another name`
    return { effects: [], secrets: say('SecretsReady', 'Failed', message), fault: 'ForeignSecret' }
  }
  if (secrets.inTheWay.length > 0) {
    const remove = secrets.inTheWay.map((object): Effect => ({ do: 'delete', resource: Secret, object }))
    const message = `${secrets.inTheWay.map((each) => tellRef(Secret, keyOf(each))).join(', ')} has another type than cluster.x-k8s.io/secret, and is made anew`
    return {
      effects: remove,
      secrets: say('SecretsReady', 'ValidatingSecret', message),
      isSettling: true,
      fault: 'WrongType',
    }
  }
  const { credential, answer } = secrets
  switch (credential.is) {
    case 'kept': {
      const wasBegun = seen.controlPlane.status?.initialization?.controlPlaneInitialized === true
      return answer.is === 'yes' || wasBegun
        ? { effects: [], secrets: say('SecretsReady', 'Ready') }
        : {
            effects: [],
            secrets: say('SecretsReady', 'ValidatingSecret', 'the API server has not answered with them yet'),
          }
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
      if (answer.is === 'yes')
        return { effects: write(seen, credential.material), secrets: say('SecretsReady', 'Ready') }
      const why = answer.is === 'no' ? answer.why : 'it was not asked'
      const said = say(
        'SecretsReady',
        'ValidatingSecret',
        `the API server does not answer with the new kubeconfig: ${why}`,
      )
      if (isGood(seen)) return { ...keptOr(seen, said), isUnsettled: true, fault: 'NotAnswering' }
      return { effects: write(seen, credential.material), secrets: said, isUnsettled: true, fault: 'NotAnswering' }
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

function write({ controlPlane, secrets: { copies, revision } }: Seen, material: Material): readonly Effect[] {
  const { namespace } = controlPlane.metadata
  const whose = { namespace, cluster: clusterNameOf(controlPlane), owner: ownedBy(controlPlane), revision }
  const isDue = (role: Role) => {
    const copy = copies.get(role)
    return isRenewed(role) || !copy?.isIntact || !copy.isCurrent
  }
  return roles.filter(isDue).map((role) => ({ do: 'apply', resource: Secret, object: copyOf(role, whose, material) }))
}

// Only what has a token in it, and only while everything else is as it was.
export function renewed(seen: Seen): readonly Effect[] {
  const { copies, credential, answer } = seen.secrets
  const isSame = roles.every((role) => copies.get(role)?.isIntact && copies.get(role)?.isCurrent)
  if (!isSame || credential.is !== 'fresh' || (answer.is !== 'yes' && isGood(seen))) return []
  return write(seen, credential.material)
}

export function untilRenewal({ secrets: { copies, credential }, now }: Seen): number | undefined {
  const times = credential.is === 'fresh' ? credential.material : copyTimes(copies)
  const { expires, renews = expires } = times
  return renews && Math.max(1, Math.ceil((renews.getTime() - now.getTime()) / 1000))
}

function copyTimes(copies: ReadonlyMap<Role, Copy>) {
  const copy = copies.get('kubeconfig')
  return copy ? timesOf(copy.secret) : { expires: undefined, renews: undefined }
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

interface Address {
  readonly said: Said
  readonly effects: readonly Effect[]
}

// Outputs first, the Secret second. Core keeps the first for ever; a later one is followed here.
function endpointOf({ controlPlane, eks, secrets: { connection } }: Seen, cluster: Cluster): Address {
  const read: Connection = typeof connection === 'string' ? readConnection(eks?.status?.outputs) : connection
  const { controlPlaneEndpoint: written } = controlPlane.spec
  const endpoint = read.endpoint ?? written
  if (!endpoint) {
    const message = eks?.status?.applied ? (read.complaints[0] ?? '') : 'it is known when the control plane is built'
    return { said: say('EndpointReady', 'Unknown', message), effects: [] }
  }
  const change = { spec: { controlPlaneEndpoint: endpoint } }
  const effects: readonly Effect[] = isWithin(endpoint, written)
    ? []
    : [{ do: 'patch', resource: CAPTControlPlane, object: controlPlane, change }]
  const first = cluster.spec?.controlPlaneEndpoint
  const isChanged = first?.host !== undefined && !isWithin(endpoint, first)
  if (!isChanged) return { said: say('EndpointReady', 'Known', tellEndpoint(endpoint)), effects }
  const message = `it is ${tellEndpoint(endpoint)} now, and so in the kubeconfigs; Cluster API keeps the first one, ${first.host}, in the Cluster`
  return { said: say('EndpointReady', 'Changed', message), effects }
}

// The longer it has been so, the less often it is tried.
function patienceOf({ status }: CAPTControlPlane, now: Date): number {
  const since = ['Available', 'SecretsReady']
    .map((type) => status?.conditions?.find((each) => each.type === type && each.status === 'False'))
    .map((each) => (each ? Date.parse(each.lastTransitionTime) : now.getTime()))
  return Math.min(60, Math.max(5, Math.round((now.getTime() - Math.min(...since)) / 1000)))
}

export function soonest(seconds: readonly (number | undefined)[]): number | undefined {
  const known = seconds.filter((each) => each !== undefined)
  return known.length > 0 ? Math.min(...known) : undefined
}
