// Which variables an apply has, from wherever they come, and which of them reach Terraform, openly or in a Secret. Pure.
import { nearest } from '../api/nearest.ts'
import type { WorkspaceTemplate } from '../api/workspacetemplate.ts'
import type { WorkspaceTemplateApply } from '../api/workspacetemplateapply.ts'
import type { Shape } from './module.ts'
import type { Filling } from './placeholder.ts'
import { givenIn } from './template.ts'
import { misfit, parseType, TypeSyntaxError } from './type.ts'
import { unsafeIn } from './value.ts'

// A value of `variablesFrom`, as it was found.
export type Found =
  | {
      readonly is: 'known'
      readonly value: unknown
      readonly text?: string // where it may just as well be that
      readonly isSensitive: boolean // from a Secret, or a sensitive output
    }
  | { readonly is: 'missing'; readonly why: string } // what is not there, for people

type Reason = 'MissingVariables' | 'UnknownVariables' | 'InvalidVariables' | 'UnsafeValue'
type Refuse = (reason: Reason, message: string) => void

interface Asked {
  readonly apply: Pick<WorkspaceTemplateApply, 'metadata' | 'spec'>
  readonly template: Pick<WorkspaceTemplate, 'spec'>
  readonly found: ReadonlyMap<string, Found>
}

export interface Given extends Filling {
  readonly text?: string
  readonly at: string // for people
}

export function givenBy({ apply, template, found }: Asked, refuse: Refuse): ReadonlyMap<string, Given> {
  const { variables = {}, variablesFrom = [] } = apply.spec
  const declared = new Map(template.spec.variables?.map((each) => [each.name, each]))
  const all = new Map<string, Given>()
  const add = (name: string, given: Given) =>
    all.set(name, { ...given, isSensitive: given.isSensitive || declared.get(name)?.sensitive === true })

  for (const { name, default: value } of declared.values())
    if (value !== undefined && !ownNames(template).has(name))
      add(name, { value, isSensitive: false, at: `spec.variables[${name}].default of the template` })
  for (const [name, value] of Object.entries(variables))
    add(name, { value, isSensitive: false, at: `spec.variables.${name}` })
  for (const { name, optional } of variablesFrom) {
    if (Object.hasOwn(variables, name))
      refuse('InvalidVariables', `variable ${name} is both in spec.variables and in spec.variablesFrom: remove one`)
    const seen = found.get(name) ?? { is: 'missing', why: 'it has not been looked for yet' }
    if (seen.is === 'known') add(name, { ...seen, at: `spec.variablesFrom[${name}]` })
    else if (!optional) refuse('MissingVariables', `variable ${name}: ${seen.why}`)
  }
  return all
}

interface Offered extends Asked {
  readonly given: ReadonlyMap<string, Given>
  readonly shape: Shape | undefined // of a module that is in the template
}

export interface Passed {
  readonly plain: ReadonlyMap<string, unknown>
  readonly secret: ReadonlyMap<string, unknown>
}

export function passed(offered: Offered, refuse: Refuse): Passed {
  const { template, given: all, shape } = offered
  tellMissing(offered, refuse)
  const declared = new Map(template.spec.variables?.map((each) => [each.name, each]))
  const theirs = new Map(shape?.variables.map((each) => [each.name, each]))
  const plain = new Map<string, unknown>()
  const secret = new Map<string, unknown>()
  for (const [name, { value: given, text, isSensitive, at }] of [...all].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    if (!isPassed(name, offered)) continue
    const types = [declared.get(name)?.type, theirs.get(name)?.type]
    const value = text !== undefined && types.some((type) => type?.trim() === 'string') ? text : given
    const wrong = types.map((type) => type && misfitOf(type, value, at)).find((complaint) => complaint)
    const unsafe = unsafeIn(value, at)
    if (wrong !== undefined) refuse('InvalidVariables', wrong)
    if (unsafe !== undefined) refuse('UnsafeValue', unsafe)
    const isSecret = isSensitive || theirs.get(name)?.isSensitive === true
    ;(isSecret ? secret : plain).set(name, value)
  }
  return { plain, secret }
}

// The predecessor's variables are for placeholders only: what a module does not declare, Terraform would complain of.
function isPassed(name: string, { template, shape }: Offered): boolean {
  if (!/^[A-Za-z_][A-Za-z0-9_-]*$/.test(name)) return false
  if (template.spec.variables?.some((each) => each.name === name) || ownNames(template).has(name)) return true
  return shape?.isWhole ? shape.variables.some((each) => each.name === name) : template.spec.variables === undefined
}

interface Used extends Asked {
  readonly given: ReadonlyMap<string, Given>
  readonly used: ReadonlySet<string> // as placeholders
}

// Only a template that says which variables it has can be asked for one that it has not. A controller offers the same to every
// template, to be taken or left.
export function tellUnknown({ apply, template, given, used }: Used, refuse: Refuse): void {
  const names = template.spec.variables?.map(({ name }) => name)
  const isOffered = apply.metadata.ownerReferences?.some(({ controller }) => controller)
  if (!names || isOffered) return
  const known = new Set([...names, ...used, ...ownNames(template)])
  const unknown = [...given].filter(([name]) => !known.has(name))
  for (const [name, { at }] of unknown.toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const meant = nearest(name, names)
    const advice = meant === undefined ? ': remove it' : `, did you mean ${meant}?`
    refuse('UnknownVariables', `${at}: the template has no variable ${name}${advice}`)
  }
}

function tellMissing({ apply, template, given, shape }: Offered, refuse: Refuse): void {
  const told = new Set(apply.spec.variablesFrom?.filter(({ optional }) => !optional).map(({ name }) => name))
  const asked = template.spec.variables?.filter(({ name, required }) => required && !ownNames(template).has(name)) ?? []
  const isGiven = givenIn(template.spec.template.spec.forProvider)
  const needed = shape?.isWhole ? shape.variables.filter(({ name, hasDefault }) => !hasDefault && !isGiven(name)) : []
  const missing = new Set(
    [...asked, ...needed].map(({ name }) => name).filter((name) => !given.has(name) && !told.has(name)),
  )
  for (const name of [...missing].toSorted())
    refuse('MissingVariables', `variable ${name} has no value: give it in spec.variables or spec.variablesFrom`)
}

// Those that the template itself gives a value.
function ownNames({ spec }: Pick<WorkspaceTemplate, 'spec'>): ReadonlySet<string> {
  const { vars = [], varmap = {} } = spec.template.spec.forProvider
  return new Set([...vars.map(({ key }) => key), ...Object.keys(varmap)])
}

// A type that cannot be read is told on the template, or by Terraform.
function misfitOf(type: string, value: unknown, at: string): string | undefined {
  try {
    return misfit(parseType(type), value, at)
  } catch (error) {
    if (!(error instanceof TypeSyntaxError)) throw error
    return undefined
  }
}
