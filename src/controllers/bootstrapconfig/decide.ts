// What a CAPTBootstrapConfig needs: an empty Secret, for Cluster API makes no Machine without one. EKS nodes bootstrap themselves. No I/O, no
// clock, no memory.
import { CAPTBootstrapConfig } from '../../api/captbootstrapconfig.ts'
import { vocabulary } from '../../api/condition.ts'
import { clusterNameLabel, clusterSecretType } from '../../api/contract.ts'
import { Secret } from '../../api/neighbours.ts'
import { isWithin } from '../../api/record.ts'
import { beside, tellObject } from '../../api/resource.ts'
import { type Effect, idle, type Plan, stageOf } from '../../runtime/plan.ts'
import { ownedBy } from '../childapply.ts'
import type { OwnerCluster } from '../ownercluster.ts'
import { tellPause } from '../pause.ts'

export interface Seen {
  readonly config: CAPTBootstrapConfig
  readonly cluster: OwnerCluster // the one it is labelled with
  readonly secret: Secret | undefined // unread
}

const say = vocabulary(CAPTBootstrapConfig.words)

export function dataSecretName({ metadata }: CAPTBootstrapConfig): string {
  return `${metadata.name}-bootstrap`
}

export function decide(seen: Seen): Plan {
  const { config, cluster } = seen
  switch (stageOf({ object: config, cluster })) {
    case 'handsOff':
    case 'leaving': // its Secret goes with it
      return idle
    case 'ownerless':
      return waiting('waits until Cluster API makes it for a Machine or a MachinePool')
    case 'paused':
      return {
        effects: [],
        conditions: [say('Paused', 'Paused', tellPause(config, cluster))],
        others: 'stay',
        wake: 'onChange',
      }
    case 'new':
    case 'live':
      return typeof cluster === 'object' ? live(seen) : waiting('waits for its Cluster, which is not there')
  }
}

function waiting(why: string): Plan {
  return { effects: [], conditions: [say('Ready', 'WaitingForCluster', why)], others: 'stay', wake: 'onChange' }
}

function live({ config, secret }: Seen): Plan {
  const name = dataSecretName(config)
  const { [clusterNameLabel]: cluster = '' } = config.metadata.labels ?? {}
  const marks = { labels: { [clusterNameLabel]: cluster }, ownerReferences: [ownedBy(config)] }
  const others = secret?.metadata.ownerReferences?.find(
    ({ controller, uid }) => controller && uid !== config.metadata.uid,
  )
  const rest = [say('Paused', 'NotPaused'), say('Deleting', 'NotDeleting')]
  if (secret && others) {
    const message = `${tellObject(secret)} is not of this config, and is left alone: delete it`
    return { effects: [], conditions: [say('Ready', 'NameTaken', message), ...rest], wake: 'onChange' }
  }
  const object = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { ...beside(config, name), ...marks },
    type: clusterSecretType,
    data: { value: '' },
  }
  const write: Effect = { do: 'apply', resource: Secret, object }
  return {
    effects: secret && isWithin(marks, secret.metadata) ? [] : [write],
    conditions: [say('Ready', 'Ready'), ...rest],
    status: { initialization: { dataSecretCreated: true }, dataSecretName: name },
    wake: 'onChange',
  }
}
