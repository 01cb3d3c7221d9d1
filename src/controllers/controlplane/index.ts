// The controller of CAPTControlPlanes: what wakes it, what it writes and what it looks at.
import { CAPTCluster } from '../../api/captcluster.ts'
import { CAPTControlPlane, CAPTControlPlaneTemplate } from '../../api/captcontrolplane.ts'
import { clusterSecretType } from '../../api/contract.ts'
import type { Kind } from '../../api/kind.ts'
import { Cluster, Secret } from '../../api/neighbours.ts'
import { beside, type Key, keyOf, referredBy, tellKey } from '../../api/resource.ts'
import { crossplane } from '../../api/workspace.ts'
import { WorkspaceTemplate } from '../../api/workspacetemplate.ts'
import { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'
import type { Read } from '../../runtime/cache.ts'
import {
  applies,
  type Controller,
  controller,
  deletes,
  gets,
  isAskedForMore,
  mapped,
  ownerOf,
} from '../../runtime/controller.ts'
import type { Indexes } from '../../runtime/store.ts'
import { copyName, roles } from '../../secrets/copies.ts'
import { toLookForIt } from '../leftworkspace.ts'
import { byClassNamespace, byCluster, ofCluster, ofOneCluster, ownerKeyOf } from '../ownercluster.ts'
import { byEksName } from './claim.ts'
import { decide } from './decide.ts'
import { eksNameOf } from './eks.ts'
import { observe } from './observe.ts'
import type { Outside } from './outside.ts'
import { isSpotRole, isSpotRoleWanted } from './spotrole.ts'

export function controlPlaneController(outside: Outside): Controller {
  return controller({
    name: 'controlplane',
    kind: CAPTControlPlane,
    group: 'control-plane',
    wokenBy: [
      mapped(CAPTControlPlane, itAndItsRivals, { indexes }),
      owner,
      mapped(WorkspaceTemplateApply, thoseWaitingForSpotRole, { indexes: ofApplies }),
      mapped(WorkspaceTemplate, thoseWaitingForAccount, { isNews: isAskedForMore }),
      mapped(CAPTControlPlaneTemplate, thoseOfItsClasses, { isNews: isAskedForMore }),
      ofCluster('controlPlaneRef'),
      mapped(CAPTCluster, besideNetwork),
      // Neither watch knows any bytes.
      mapped(Secret, thoseOfCopy, { scope: { fields: `type=${clusterSecretType}` } }),
      mapped(Secret, thoseOfConnection, { scope: { fields: `type=${crossplane.connectionSecretType}` } }),
    ],
    writes: [
      { resource: CAPTControlPlane, verbs: ['patch'] },
      applies(WorkspaceTemplateApply),
      deletes(WorkspaceTemplateApply),
      gets(WorkspaceTemplateApply),
      ...toLookForIt,
      applies(Secret),
      deletes(Secret),
      gets(Secret),
    ],
    observe: async (read, controlPlane: CAPTControlPlane, live) => observe(read, controlPlane, live, outside),
    decide,
  })
}

const bySpotRole = 'spotrole' // those that want one, by namespace
const byAccount = 'account' // those for whose role a template says in which account, by it
const byConnection = 'connection'
const owner = ownerOf(WorkspaceTemplateApply)

const ofApplies: Indexes<WorkspaceTemplateApply> = {
  [byConnection]: ({ metadata, spec }) => {
    const isOfOne = metadata.ownerReferences?.some(({ kind }) => kind === CAPTControlPlane.kind)
    const { name } = spec.writeConnectionSecretToRef ?? {}
    return isOfOne && name !== undefined ? [tellKey(beside({ metadata }, name))] : []
  },
}

const indexes: Indexes<CAPTControlPlane> = {
  [byEksName]: (controlPlane) => [eksNameOf(controlPlane)],
  [bySpotRole]: (controlPlane) => (isSpotRoleWanted(controlPlane) ? [controlPlane.metadata.namespace ?? ''] : []),
  [byAccount]: (controlPlane) => {
    const { providerConfigRef, workspaceTemplateRef } = controlPlane.spec
    const isSaid = providerConfigRef !== undefined || !isSpotRoleWanted(controlPlane)
    return isSaid ? [] : [tellKey(referredBy(controlPlane, workspaceTemplateRef))]
  },
  ...ofOneCluster,
}

// Who waits for a name wants to know when it is free.
function itAndItsRivals(controlPlane: CAPTControlPlane, _: unknown, read: Read): readonly Key[] {
  return [keyOf(controlPlane), ...read.keysAt(CAPTControlPlane, byEksName, eksNameOf(controlPlane))]
}

function thoseWaitingForSpotRole(apply: WorkspaceTemplateApply, _: unknown, read: Read): readonly Key[] {
  return isSpotRole(apply) ? read.keysAt(CAPTControlPlane, bySpotRole, apply.metadata.namespace ?? '') : []
}

function thoseWaitingForAccount(template: WorkspaceTemplate, _: unknown, read: Read): readonly Key[] {
  return read.keysAt(CAPTControlPlane, byAccount, tellKey(keyOf(template)))
}

// Those of every class that is where the template is: which class names it, only the class tells.
function thoseOfItsClasses({ metadata }: CAPTControlPlaneTemplate, _: unknown, read: Read): readonly Key[] {
  const clusters = read.keysAt(Cluster, byClassNamespace, metadata.namespace ?? '')
  return clusters.flatMap((key) => read.keysAt(CAPTControlPlane, byCluster, tellKey(key)))
}

function besideNetwork(network: CAPTCluster, _: unknown, read: Read): readonly Key[] {
  const key = ownerKeyOf(network)
  return key ? read.keysAt(CAPTControlPlane, byCluster, tellKey(key)) : []
}

// Whoever it belongs to: a name that is ours may be taken, and free again.
function thoseOfCopy({ metadata: { namespace = '', name } }: Secret, _: unknown, read: Read): readonly Key[] {
  return roles.flatMap((role) => {
    const [, ending = ''] = copyName(role, '|').split('|')
    const cluster = name.endsWith(ending) ? name.slice(0, -ending.length) : ''
    return read.keysAt(CAPTControlPlane, byCluster, tellKey({ namespace, name: cluster }))
  })
}

// Whatever it is called: an adopted apply goes on with the one it has.
function thoseOfConnection(secret: Secret, kind: Kind, read: Read): readonly Key[] {
  const written = read.byIndex(WorkspaceTemplateApply, byConnection, tellKey(keyOf(secret)))
  return written.flatMap((apply) => owner.wakes(apply, kind, read))
}
