// What becomes of a control plane's Secrets, and what is said of them. Pure.
import { CAPTControlPlane } from '../../api/captcontrolplane.ts'
import { type Said, vocabulary } from '../../api/condition.ts'
import { Secret } from '../../api/neighbours.ts'
import { keyOf, tellRef } from '../../api/resource.ts'
import type { Effect } from '../../runtime/plan.ts'
import { copyName, copyOf, type Material, type Role } from '../../secrets/copies.ts'
import { ownedBy, type Run } from '../childapply.ts'
import { clusterNameOf, connectionName } from './eks.ts'
import type { Again } from './patience.ts'
import type { Seen } from './seen.ts'
import { bare, foreignness, isFree, isGood, isRejected, lacking } from './upkeep.ts'

const say = vocabulary(CAPTControlPlane.words)

export type Fault = 'ForeignSecret' | 'WrongType' | 'Incomplete' | 'NoCredential' | 'NotAnswering'

interface Step {
  readonly effects: readonly Effect[]
  readonly said: Said
  readonly fault?: Fault // that is counted
  readonly again?: Again // it is to be tried again, though nothing changes here
}

export interface Course extends Omit<Step, 'fault' | 'again'> {
  readonly faults: readonly Fault[]
  readonly again: readonly Again[]
  readonly isUsable: boolean // the kubeconfig that Cluster API uses, whatever the others are
}

// One Secret that is in the way keeps no other from being looked after.
export function courseOf(seen: Seen, run: Run | undefined): Course {
  const first = machine(seen, run)
  const steps = [first, ...[foreigners(seen), clearing(seen)].filter((each) => each !== undefined)]
  return {
    effects: steps.flatMap(({ effects }) => effects),
    said: together(steps.map(({ said }) => said)),
    faults: steps.flatMap(({ fault }) => fault ?? []),
    again: steps.flatMap(({ again }) => again ?? []),
    isUsable: first.said.status === 'True' && isFree(seen, 'kubeconfig'),
  }
}

// What somebody has to do something about comes first.
function together(all: readonly Said[]): Said {
  const worst = all.find(({ reason }) => reason === 'Failed') ?? all.find(({ status }) => status !== 'True') ?? all[0]
  const messages = all.map(({ message }) => message).filter((each) => each !== '')
  return { ...(worst ?? say('SecretsReady', 'Ready')), message: messages.join('; ') }
}

// A Secret that belongs to somebody else is left alone. One of another type is not watched: nothing would tell that it has gone.
function foreigners(seen: Seen): Step | undefined {
  const { copies, inTheWay } = seen.secrets
  const told = [...[...copies.values()].map(({ secret }) => secret), ...inTheWay].flatMap((secret) => {
    const why = foreignness(seen, secret)
    return why === undefined ? [] : [`${tellRef(Secret, keyOf(secret))} ${why}`]
  })
  if (told.length === 0) return undefined
  const message = `${told.join('; ')}, and is left alone: delete it, or give the Cluster another name`
  const isUnwatched = inTheWay.some((secret) => foreignness(seen, secret) !== undefined)
  const said = say('SecretsReady', 'Failed', message)
  return { effects: [], said, fault: 'ForeignSecret', ...(isUnwatched && { again: 'eachMinute' }) }
}

// The type of a Secret cannot be changed. One that comes back, or does not go, is not chased.
function clearing(seen: Seen): Step | undefined {
  const ours = seen.secrets.inTheWay.filter((each) => foreignness(seen, each) === undefined)
  if (ours.length === 0) return undefined
  const message = `${ours.map((each) => tellRef(Secret, keyOf(each))).join(', ')} has another type than cluster.x-k8s.io/secret, and is made anew`
  const there = ours.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  return {
    effects: there.map((object) => ({ do: 'delete', resource: Secret, object })),
    said: say('SecretsReady', 'ValidatingSecret', message),
    fault: 'WrongType',
    again: toldOf(seen)?.message.includes(message) ? 'patiently' : 'atOnce',
  }
}

function toldOf({ controlPlane: { status } }: Seen) {
  return status?.conditions?.find(({ type }) => type === 'SecretsReady')
}

// The seed's machine: WaitingForSecret, ValidatingSecret, Ready, Failed. What is good stays in place, and keeps it Ready.
function machine(seen: Seen, run: Run | undefined): Step {
  const { credential, connection } = seen.secrets
  const trouble = troubleOf(seen, run)
  if (trouble) {
    const effects = credential.is === 'fresh' ? put(seen, bare(seen), credential.material) : []
    return { ...trouble, effects, said: keptOr(seen, trouble.said) }
  }
  if (credential.is !== 'fresh') return keeping(seen)
  const remark = credential.isInstead ? instead : connection === 'absent' ? stays(lackOf(seen, run)) : ''
  const effects = put(seen, lacking(seen), credential.material)
  return { effects, said: say('SecretsReady', 'Ready', remark) }
}

const instead = 'the API server does not take the output kubeconfig (401): a token signed at AWS is used instead'

function keeping(seen: Seen): Step {
  const { answer } = seen.secrets
  const told = toldOf(seen)
  const well = (message = '') => ({ effects: [], said: say('SecretsReady', 'Ready', message) })
  if (!isFree(seen, 'kubeconfig')) return well()
  // One that nobody ever answered to is not good by lying there.
  if (answer.is === 'yes' || (told?.status === 'True' && !isRejected(answer)))
    return well(told?.message.startsWith(instead) ? instead : '')
  const why = answer.is === 'no' ? `: ${answer.why}` : ''
  const message = `the API server has not answered yet with Secret ${copyName('kubeconfig', clusterNameOf(seen.controlPlane))}${why}`
  return { effects: [], said: say('SecretsReady', 'ValidatingSecret', message) }
}

// What keeps a kubeconfig from being made, where one is to be.
export function troubleOf(seen: Seen, run: Run | undefined): Omit<Step, 'effects'> | undefined {
  const { credential } = seen.secrets
  switch (credential.is) {
    case 'kept':
      return undefined
    case 'none': {
      const said = lackOf(seen, run)
      return { said, ...(said.reason === 'Failed' && { fault: 'Incomplete' }) }
    }
    case 'refused': {
      const { mend, why } = credential
      const message = `no kubeconfig can be made: ${why}`
      const said =
        mend === 'nowhere'
          ? say('SecretsReady', 'ValidatingSecret', `${message}; it is tried again`)
          : say('SecretsReady', 'Failed', message)
      const again = { nowhere: 'patiently', elsewhere: 'eachMinute', here: undefined } as const
      return { said, fault: 'NoCredential', ...(again[mend] && { again: again[mend] }) }
    }
    case 'fresh': {
      const { answer } = credential
      if (answer.is === 'yes') return undefined
      const why = answer.is === 'no' ? answer.why : 'it was not asked'
      const message = `the API server does not answer with the new kubeconfig: ${why}`
      return { said: say('SecretsReady', 'ValidatingSecret', message), fault: 'NotAnswering', again: 'patiently' }
    }
  }
}

// What there is that is good is not given up for what is not.
function keptOr(seen: Seen, said: Said): Said {
  const isKept = isGood(seen, 'kubeconfig') && isFree(seen, 'kubeconfig') && !isRejected(seen.secrets.answer)
  return isKept ? say('SecretsReady', 'Ready', stays(said)) : said
}

function stays({ message }: Said): string {
  return `the last good kubeconfig stays: ${message}`
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

export function put(
  { controlPlane, secrets: { revision } }: Seen,
  wanted: readonly Role[],
  material: Material,
): readonly Effect[] {
  const { namespace } = controlPlane.metadata
  const whose = { namespace, cluster: clusterNameOf(controlPlane), owner: ownedBy(controlPlane), revision }
  return wanted.map((role) => ({ do: 'apply', resource: Secret, object: copyOf(role, whose, material) }))
}
