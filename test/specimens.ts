// A specimen of each kind: the least that is accepted. Rules are tried on changes of these.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { type Kind, version } from '../src/api/kind.ts'
import type { KubeObject } from './bed/kube.ts'

const templateRef = { name: 'module' }
const machine = { workspaceTemplateRef: templateRef, instanceType: 'm7g.large' }
const cluster = { region: 'ap-northeast-1', vpcTemplateRef: { name: 'vpc' } }
const pool = { workspaceTemplateRef: templateRef }

const specs: Readonly<Record<string, object>> = {
  CAPTCluster: cluster,
  CAPTClusterTemplate: { template: { spec: cluster } },
  CAPTControlPlane: { version: 'v1.34.0', workspaceTemplateRef: templateRef },
  CAPTControlPlaneTemplate: { template: { spec: { workspaceTemplateRef: templateRef } } },
  WorkspaceTemplate: {
    template: { spec: { forProvider: { source: 'Inline', module: 'output "hello" { value = "world" }' } } },
  },
  WorkspaceTemplateApply: { templateRef },
  CAPTMachine: machine,
  CAPTMachineTemplate: { template: { spec: machine } },
  CAPTMachineSet: { template: { spec: machine } },
  CAPTMachineDeployment: { template: { spec: machine } },
  CAPTMachinePool: pool,
  CAPTMachinePoolTemplate: { template: { spec: pool } },
  CAPTBootstrapConfig: {},
  CAPTBootstrapConfigTemplate: { template: {} },
  CAPTAddon: { clusterSelector: {}, manifests: [{ name: 'all', inline: 'kind: Namespace' }] },
  CAPTAddonInstance: { addonName: 'flux', clusterName: 'demo' },
}

export function specimenSpec(kind: Kind): Record<string, unknown> {
  return structuredClone(specs[kind.kind] ?? {}) as Record<string, unknown>
}

export function aSpecimen(
  kind: Kind,
  namespace: string,
  spec: object = specimenSpec(kind),
  name = 'specimen',
): KubeObject {
  return {
    apiVersion: `${kind.group}/${version}`,
    kind: kind.kind,
    metadata: { name, ...(!kind.isClusterScoped && { namespace }) },
    spec,
  }
}

// The specimen with one place changed; `undefined` takes the place away. The place is a path such as template.spec.region.
export function changed(kind: Kind, place: string, value: unknown, base?: object): Record<string, unknown> {
  const spec = base ? (structuredClone(base) as Record<string, unknown>) : specimenSpec(kind)
  const steps = place.split('.')
  const last = steps.pop() ?? ''
  let at = spec
  for (const step of steps) at = (at[step] ??= {}) as Record<string, unknown>
  if (value === undefined) delete at[last]
  else at[last] = value
  return spec
}

// The examples of rules.yaml.
export interface RuleExample {
  readonly kind: string
  readonly with?: object
  readonly at: string
  readonly not: unknown
  readonly but?: unknown
  readonly says: string
}

export const ruleExamples = parse(
  readFileSync(join(import.meta.dirname, 'stories/rules.yaml'), 'utf8'),
) as readonly RuleExample[]
