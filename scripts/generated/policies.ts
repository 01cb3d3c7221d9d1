// ValidatingAdmissionPolicies: what the schema of one object cannot see, because it is about another object, about who is
// deleted, or about a dry run.

import { CAPTBootstrapConfigTemplate } from '../../src/api/captbootstrapconfig.ts'
import { CAPTCluster } from '../../src/api/captcluster.ts'
import { CAPTControlPlane } from '../../src/api/captcontrolplane.ts'
import { CAPTMachineTemplate } from '../../src/api/captmachine.ts'
import { deleteForMoveAnnotation, topologyDryRunAnnotation } from '../../src/api/contract.ts'
import { type Kind, version } from '../../src/api/kind.ts'
import { type Provider, providerOf } from '../../src/api/provider.ts'
import { WorkspaceTemplate } from '../../src/api/workspacetemplate.ts'
import { WorkspaceTemplateApply } from '../../src/api/workspacetemplateapply.ts'

interface Policy {
  readonly name: string
  readonly on: 'UPDATE' | 'DELETE'
  readonly of: readonly Guarded[]
  readonly comparedWith?: Kind // every object of this kind in the namespace is put to the question as `params`
  readonly passes?: readonly { readonly name: string; readonly expression: string }[] // when it is not asked at all
  readonly holds: string
  readonly message: string // CEL, so that it can name the object
}

interface Guarded {
  readonly group: string
  readonly plural: string
  readonly versions?: readonly string[]
}

const cluster = { group: 'cluster.x-k8s.io', plural: 'clusters', versions: ['*'] }

// clusterctl deletes what it has moved: that takes nothing down.
const isMoved = {
  name: 'not-deleted-for-move',
  expression: `!has(oldObject.metadata.annotations) || !('${deleteForMoveAnnotation}' in oldObject.metadata.annotations)`,
}

// What it names counts like what it owns: a backup comes back without owners, and Cluster API deletes by name.
const ownsProtected = (kind: Kind, ref: string) =>
  `!(has(params.spec.deletionProtection) && params.spec.deletionProtection && ((has(oldObject.spec.${ref}) && has(oldObject.spec.${ref}.name) && oldObject.spec.${ref}.kind == '${kind.kind}' && oldObject.spec.${ref}.name == params.metadata.name) || (has(params.metadata.ownerReferences) && params.metadata.ownerReferences.exists(owner, owner.kind == 'Cluster' && owner.name == oldObject.metadata.name && owner.uid == oldObject.metadata.uid))))`

function protects(name: string, ...of: readonly Kind[]): Policy {
  return {
    name,
    on: 'DELETE',
    of,
    passes: [isMoved],
    holds: '!(has(oldObject.spec.deletionProtection) && oldObject.spec.deletionProtection)',
    message:
      "oldObject.kind + ' ' + oldObject.metadata.name + ' has deletionProtection: set spec.deletionProtection to false first'",
  }
}

function protectsClusterOf(kind: Kind, name: string, ref: string): Policy {
  return {
    name: `protect-cluster-of-${name}`,
    on: 'DELETE',
    of: [cluster],
    comparedWith: kind,
    passes: [isMoved],
    holds: ownsProtected(kind, ref),
    message: `'Cluster ' + oldObject.metadata.name + ' owns ${kind.kind} ' + params.metadata.name + ', which has deletionProtection: set spec.deletionProtection of it to false first'`,
  }
}

// Nobody deletes the hands of what is protected, unless they leave in place what they built. Its owner does so when it goes itself, and then it is
// protected no more.
function protectsApplyOf(kind: Kind, name: string): Policy {
  return {
    name: `protect-apply-of-${name}`,
    on: 'DELETE',
    of: [WorkspaceTemplateApply],
    comparedWith: kind,
    passes: [isMoved],
    holds: `!(has(params.spec.deletionProtection) && params.spec.deletionProtection && !(has(oldObject.spec.retainOnDelete) && oldObject.spec.retainOnDelete) && has(oldObject.metadata.ownerReferences) && oldObject.metadata.ownerReferences.exists(owner, owner.kind == '${kind.kind}' && owner.name == params.metadata.name && owner.uid == params.metadata.uid))`,
    message: `'WorkspaceTemplateApply ' + oldObject.metadata.name + ' belongs to ${kind.kind} ' + params.metadata.name + ', which has deletionProtection: set spec.deletionProtection of that to false first'`,
  }
}

const policies: readonly Policy[] = [
  {
    name: 'immutable-templates',
    on: 'UPDATE',
    of: [CAPTMachineTemplate, CAPTBootstrapConfigTemplate],
    passes: [
      {
        name: 'no-topology-dry-run',
        expression: `!(has(request.dryRun) && request.dryRun && has(object.metadata.annotations) && '${topologyDryRunAnnotation}' in object.metadata.annotations)`,
      },
    ],
    holds: 'object.spec == oldObject.spec',
    message:
      "object.kind + ' ' + object.metadata.name + ' cannot be changed, because machines were made of it: make a new one under another name and refer to that'",
  },
  protects('protect-deletion', CAPTCluster, WorkspaceTemplateApply),
  protects('protect-deletion-of-control-plane', CAPTControlPlane),
  protectsClusterOf(CAPTControlPlane, 'control-plane', 'controlPlaneRef'),
  protectsClusterOf(CAPTCluster, 'network', 'infrastructureRef'),
  protectsApplyOf(CAPTControlPlane, 'control-plane'),
  protectsApplyOf(CAPTCluster, 'network'),
  {
    name: 'template-in-use',
    on: 'DELETE',
    of: [WorkspaceTemplate],
    comparedWith: WorkspaceTemplateApply,
    passes: [isMoved],
    holds:
      '!(params.spec.templateRef.name == oldObject.metadata.name && (!has(params.spec.templateRef.namespace) || params.spec.templateRef.namespace == oldObject.metadata.namespace))',
    message:
      "'WorkspaceTemplate ' + oldObject.metadata.name + ' is used by WorkspaceTemplateApply ' + params.metadata.name + ': delete that first, or let it use another template'",
  },
]

const prefix = 'appthrust-capt-'

export function policyObjects(is: readonly Provider[]) {
  const wanted = policies.filter((policy) => is.includes(ownerOf(policy)))
  return wanted.flatMap((policy) => [policyOf(policy), bindingOf(policy)])
}

// Whoever brings the kinds that it is about: without the kind it compares with, a policy refuses everything.
function ownerOf({ of, comparedWith }: Policy): Provider {
  const isOfControlPlane = [...of, ...(comparedWith ? [comparedWith] : [])].map(providerOf).includes('control-plane')
  return isOfControlPlane ? 'control-plane' : 'infrastructure'
}

function policyOf({ name, on, of, comparedWith, passes = [], holds, message }: Policy) {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: `${prefix}${name}` },
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: {
        resourceRules: of.map(({ group, plural, versions = [version] }) => ({
          apiGroups: [group],
          apiVersions: versions,
          resources: [plural],
          operations: [on],
        })),
      },
      ...(comparedWith && { paramKind: { apiVersion: `${comparedWith.group}/${version}`, kind: comparedWith.kind } }),
      ...(passes.length > 0 && { matchConditions: passes }),
      validations: [{ expression: holds, messageExpression: message, reason: 'Forbidden' }],
    },
  }
}

function bindingOf({ name, comparedWith }: Policy) {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: `${prefix}${name}` },
    spec: {
      policyName: `${prefix}${name}`,
      validationActions: ['Deny'],
      // No object to compare with is no objection.
      ...(comparedWith && { paramRef: { selector: {}, parameterNotFoundAction: 'Allow' } }),
    },
  }
}
