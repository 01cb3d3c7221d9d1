// Watches over a cluster on an API server in memory and tells what must never be seen of one, at each write: a latch that goes back,
// a version that does, a name, an address or a network that is lost, a Workspace that moves in a pause, an owner that goes before what it owns, and a cluster that is called usable before all is there that makes it so.
import { CAPTCluster } from '../src/api/captcluster.ts'
import { CAPTControlPlane } from '../src/api/captcontrolplane.ts'
import type { Condition } from '../src/api/condition.ts'
import { Cluster, Secret } from '../src/api/neighbours.ts'
import { tellObject } from '../src/api/resource.ts'
import { crossplane, type Workspace } from '../src/api/workspace.ts'
import { WorkspaceTemplateApply } from '../src/api/workspacetemplateapply.ts'
import { copyName, roles } from '../src/secrets/copies.ts'
import type { Objects } from './objects.ts'

// What is there, once it is there, stays: by what is told of it.
type Latches = Readonly<Record<string, string | boolean | number | undefined>>

export function watchOver(objects: Objects): ReadonlySet<string> {
  const wrong = new Set<string>()
  const before = new Map<string, Latches>()
  const versions = new Map<string, number>()
  const workspaces = new Map<string, { readonly isPaused: boolean; readonly asked: string }>()

  const isPausedWith = (namespace: string) => objects.get(Cluster, { namespace, name: 'demo' })?.spec?.paused === true

  objects.watch(({ type, resource, object }) => {
    if (type === 'DELETED') {
      const left = objects
        .list(WorkspaceTemplateApply)
        .filter(({ metadata: { ownerReferences = [] } }) =>
          ownerReferences.some((owner) => owner.uid === object.metadata.uid),
        )
      for (const each of left) wrong.add(`${resource.kind} went before ${tellObject(each)}`)
      return
    }
    const { uid = '', namespace = '' } = object.metadata
    const isOf = (kind: { readonly kind: string; readonly group: string }) =>
      resource.kind === kind.kind && resource.group === kind.group
    const secrets = () => roles.filter((role) => !objects.get(Secret, { namespace, name: copyName(role, 'demo') }))
    const keep = (latches: Latches) => {
      for (const [what, was] of Object.entries(before.get(uid) ?? {})) {
        if (was !== undefined && latches[what] !== was)
          wrong.add(`${what} of ${resource.kind} went from ${was} to ${latches[what]}`)
      }
      before.set(uid, latches)
    }
    const usable = (what: string, host: string | undefined) => {
      if (object.metadata.deletionTimestamp !== undefined) return // others may have deleted more than that
      if (isPausedWith(namespace)) return // it may be moved away, and what it says is as it was before
      if (host === undefined) wrong.add(`${what} without an endpoint`)
      for (const role of secrets()) wrong.add(`${what} without the Secret for ${role}`)
    }

    if (resource.kind === 'Workspace') {
      const isPaused = object.metadata.annotations?.[crossplane.paused] === 'true'
      const last = workspaces.get(uid)
      const asked = askedOf(object as Workspace)
      workspaces.set(uid, { isPaused, asked })
      const isStill = isPausedWith(namespace)
      if (isStill && last?.isPaused && !isPaused) wrong.add(`${tellObject(object)} went on in a pause`)
      if (isStill && last && last.asked !== asked) wrong.add(`${tellObject(object)} was changed in a pause`)
    }
    if (isOf(CAPTCluster)) {
      const { status } = object as CAPTCluster
      keep({ provisioned: status?.initialization?.provisioned, vpcId: status?.vpcId })
      if (status?.initialization?.provisioned && status.vpcId === undefined) wrong.add('provisioned without a VPC')
    }
    if (isOf(CAPTControlPlane)) {
      const { spec, status } = object as CAPTControlPlane
      const isInitialized = status?.initialization?.controlPlaneInitialized
      keep({
        controlPlaneInitialized: isInitialized,
        eksClusterName: spec.eksClusterName,
        endpoint: spec.controlPlaneEndpoint?.host,
      })
      if (isInitialized) usable('initialized', spec.controlPlaneEndpoint?.host)
      if (isTrue(status?.conditions, 'Available')) usable('Available', spec.controlPlaneEndpoint?.host)
      const version = status?.version?.replace(/^v/, '').split('.')[1]
      const last = versions.get(uid)
      if (last !== undefined && (version === undefined || Number(version) < last || Number(version) > last + 1))
        wrong.add(`the version went from 1.${last} to 1.${version}`)
      if (version !== undefined) versions.set(uid, Number(version))
    }
    if (isOf(Cluster)) {
      const { spec, status } = object as Cluster
      keep({
        infrastructureProvisioned: status?.initialization?.infrastructureProvisioned,
        controlPlaneInitialized: status?.initialization?.controlPlaneInitialized,
        endpoint: spec?.controlPlaneEndpoint?.host,
      })
      if (isTrue(status?.conditions, 'Available')) usable('the Cluster Available', spec?.controlPlaneEndpoint?.host)
    }
  })
  return wrong
}

// All but whether it is destroyed when it goes, for in a pause it may be moved.
function askedOf({ spec }: Workspace): string {
  return JSON.stringify({ ...spec, deletionPolicy: undefined, managementPolicies: undefined })
}

function isTrue(conditions: readonly Condition[] | undefined, type: string): boolean {
  return conditions?.some((each) => each.type === type && each.status === 'True') === true
}
