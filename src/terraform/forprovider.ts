// What a template says of a Workspace, filled in: what Terraform runs, and with what, variables added, fields as the API has them;
// and the names around it. Pure.
import type { ForProvider, KeyRef, WorkspaceAPI } from '../api/workspace.ts'
import type { WorkspaceTemplate } from '../api/workspacetemplate.ts'
import type { WorkspaceTemplateApply } from '../api/workspacetemplateapply.ts'
import { type Shape, shapeOf } from './module.ts'
import { type Filled, type Filler, fill, fillAddress, fillModule, fillTyped } from './placeholder.ts'
import type { References } from './references.ts'
import { unsafeIn } from './value.ts'
import { type Found, givenBy, passed, tellUnknown } from './variables.ts'

interface Asked {
  readonly apply: Pick<WorkspaceTemplateApply, 'metadata' | 'spec'>
  readonly template: Pick<WorkspaceTemplate, 'spec'>
  readonly api: Pick<WorkspaceAPI, 'group'>
  readonly workspace: string
  readonly found: ReadonlyMap<string, Found>
}

type Around = WorkspaceTemplate['spec']['template']['spec']
type Written = Around['forProvider']
type Refuse = (
  reason: 'MissingVariables' | 'UnknownVariables' | 'InvalidVariables' | 'UnsafeValue',
  message: string,
) => void

interface Drawn {
  readonly forProvider: ForProvider
  readonly around: Filled<Pick<Around, 'providerConfigRef' | 'writeConnectionSecretToRef'>>
  readonly secrets: ReadonlyMap<string, unknown> // variables that must not be in it
}

const outside = "the template's spec.template.spec"
const place = `${outside}.forProvider`

export function forProviderOf(asked: Asked, references: References, refuse: Refuse): Drawn {
  const { template, api, workspace } = asked
  const { forProvider: ofTemplate, providerConfigRef, writeConnectionSecretToRef } = template.spec.template.spec
  const { source, module: written, vars, varmap, varFiles, env, ...others } = ofTemplate
  const given = givenBy(asked, refuse)
  const used = new Set<string>()
  const fillerBeside = (shape: Shape | undefined): Filler => {
    const secret = new Set(shape?.variables.filter(({ isSensitive }) => isSensitive).map(({ name }) => name))
    const fillings = [...given].map(
      ([name, { value, isSensitive }]) => [name, { value, isSensitive: isSensitive || secret.has(name) }] as const,
    )
    return {
      fillings: new Map([...fillings, ['WORKSPACE_NAME', { value: workspace, isSensitive: false }]]),
      use: (name) => used.add(name),
      refuse,
    }
  }
  const module = moduleOf({ source, module: written, ...others }, fillerBeside(undefined))
  const shape = shapeIn({ source, module, ...others })
  const { plain, secret } = passed({ ...asked, given, shape }, refuse)
  const isOwn = (name: string) => !plain.has(name) && !secret.has(name) // what the apply gives counts more

  const filler = fillerBeside(shape)
  const ownVars = fill(
    vars?.filter(({ key }) => isOwn(key)),
    `${place}.vars`,
    filler,
  )
  const ownMap = Object.entries(varmap ?? {})
    .filter(([name]) => isOwn(name))
    .map(([name, value]) => [name, fillTyped(value, `${place}.varmap.${name}`, filler)] as const)
  const rest = fieldsOf(api, fill(others, place, filler))
  const files = fill(varFiles, `${place}.varFiles`, filler)
  const environment = fill(env, `${place}.env`, filler)
  const around = fill({ providerConfigRef, writeConnectionSecretToRef }, outside, filler)
  tellUnknown({ ...asked, given, used }, refuse)
  for (const unsafe of [unsafeIn(ownVars, `${place}.vars`), unsafeIn(Object.fromEntries(ownMap), `${place}.varmap`)])
    if (unsafe !== undefined) refuse('UnsafeValue', unsafe)
  checkSource(api, { source, module }, references, refuse)

  const all = [...ownMap, ...plain].toSorted(([a], [b]) => (a < b ? -1 : 1))
  const forProvider = {
    ...rest,
    source,
    module,
    ...(ownVars && ownVars.length > 0 && { vars: ownVars }),
    ...(all.length > 0 && { varmap: Object.fromEntries(all) }),
    ...(files && { varFiles: files.map((each, index) => located(each, `${place}.varFiles[${index}]`, references)) }),
    ...(environment && { env: environment.map((each, index) => located(each, `${place}.env[${index}]`, references)) }),
  }
  return { forProvider, around, secrets: secret }
}

type Module = Pick<Written, 'source' | 'module' | 'inlineFormat'>

function moduleOf({ source, module, inlineFormat }: Module, filler: Filler): string {
  if (source !== 'Inline') return fillAddress(module, `${place}.module`, filler)
  const declared = new Set(shapeIn({ source, module, inlineFormat })?.variables.map(({ name }) => name))
  return fillModule(module, `${place}.module`, filler, (name) => declared.has(name))
}

function shapeIn({ source, module, inlineFormat = 'HCL' }: Module): Shape | undefined {
  return source === 'Inline' ? shapeOf(module, inlineFormat) : undefined
}

// provider-opentofu has a name of its own for one field, and another not at all. What is not known here is of newer engines.
function fieldsOf(
  { group }: Pick<WorkspaceAPI, 'group'>,
  fields: Filled<Omit<Written, 'source' | 'module' | 'vars' | 'varmap' | 'varFiles' | 'env'>>,
) {
  if (!isTofu(group)) return fields
  const { enableTerraformCLILogging: isLogged, remotePullPolicy: _, ...rest } = fields
  return { ...rest, ...(isLogged !== undefined && { enableTofuCLILogging: isLogged }) }
}

function isTofu(group: WorkspaceAPI['group']): boolean {
  return group === 'opentofu.upbound.io' || group === 'opentofu.m.upbound.io'
}

function checkSource(
  { group }: Pick<WorkspaceAPI, 'group'>,
  { source, module }: Module,
  references: References,
  refuse: Refuse,
): void {
  if (source !== 'Flux') return
  if (isTofu(group))
    refuse(
      'InvalidVariables',
      `${place}.source: ${group} knows no Flux: write Remote or Inline, or name another workspaceAPI`,
    )
  references.check(/^\w+::(?<namespace>[^/]+)\//.exec(module)?.groups?.['namespace'], `${place}.module`)
}

interface Referring {
  readonly configMapKeyRef?: KeyRef
  readonly secretKeyRef?: KeyRef
}

function located<T extends Referring>(referring: T, at: string, { locate }: References) {
  const { configMapKeyRef: configMap, secretKeyRef: secret, ...rest } = referring
  return {
    ...rest,
    ...(configMap && { configMapKeyRef: locate(configMap, `${at}.configMapKeyRef`) }),
    ...(secret && { secretKeyRef: locate(secret, `${at}.secretKeyRef`) }),
  }
}
