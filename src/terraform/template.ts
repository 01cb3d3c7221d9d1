// Checks a WorkspaceTemplate as far as that can be done without Terraform, and names its revision. Pure.
import { hashOf } from '../api/canonical.ts'
import type { WorkspaceTemplate } from '../api/workspacetemplate.ts'
import { type Shape, shapeOf } from './module.ts'
import { misfit, parseType, TypeSyntaxError } from './type.ts'
import { unsafeIn } from './value.ts'

export interface Complaint {
  readonly reason: 'InvalidModule' | 'InvalidVariables'
  readonly message: string // one sentence, with the place
}

type Template = Pick<WorkspaceTemplate, 'spec'>
type Declared = NonNullable<Template['spec']['variables']>[number]

// Remembered as long as the template is: every pass of every apply of it asks.
const known = new WeakMap<Template, readonly Complaint[]>()

export function complaintsOf(template: Template): readonly Complaint[] {
  const complaints = known.get(template) ?? judged(template)
  known.set(template, complaints)
  return complaints
}

function judged(template: Template): readonly Complaint[] {
  const { variables } = template.spec
  const shape = inlineShapeOf(template)
  const ofModule = (shape?.complaints ?? []).map((each) => `spec.template.spec.forProvider.module, ${each}`)
  const ofVariables = [
    ...(variables ?? []).flatMap(ofDeclared),
    ...(variables && shape?.isWhole ? mismatches(template, variables, shape) : []),
  ]
  return [
    ...ofModule.map((message): Complaint => ({ reason: 'InvalidModule', message })),
    ...ofVariables.map((message): Complaint => ({ reason: 'InvalidVariables', message })),
  ]
}

// What changes when something changes that reaches Terraform, and only then: not with what is said to people, nor with the order of
// fields or variables. It is of the object as the API server stores it, defaults filled in.
export function revisionOf({
  spec: { template, variables = [], workspaceAPI, writeConnectionSecretToRef },
}: Template): string {
  const declared = variables.map((variable): [string, object] => {
    const { name, description: _, ...rest } = variable
    return [name, rest]
  })
  return hashOf({
    spec: template.spec,
    variables: Object.fromEntries(declared),
    workspaceAPI,
    writeConnectionSecretToRef,
  })
}

function inlineShapeOf({ spec: { template } }: Template): Shape | undefined {
  const { source, module, inlineFormat = 'HCL' } = template.spec.forProvider
  return source === 'Inline' ? shapeOf(module, inlineFormat) : undefined
}

function ofDeclared(variable: Declared, index: number, all: readonly Declared[]): readonly string[] {
  const place = `spec.variables[${variable.name}]`
  return [
    all.findIndex(({ name }) => name === variable.name) < index && `${place} is declared twice: remove one`,
    wrongType(variable, place),
    unsafeIn(variable.default, `${place}.default`),
  ].filter((each) => typeof each === 'string')
}

function wrongType({ type, default: value = null }: Declared, place: string): string | undefined {
  try {
    return misfit(parseType(type), value, `${place}.default`)
  } catch (error) {
    if (!(error instanceof TypeSyntaxError)) throw error
    return `${place}.type: ${error.message}`
  }
}

// Where the variables of the template and those of its module do not meet.
function mismatches({ spec }: Template, declared: readonly Declared[], shape: Shape): readonly string[] {
  const ours = new Set(declared.map(({ name }) => name))
  const theirs = new Set(shape.variables.map(({ name }) => name))
  const isGiven = givenIn(spec.template.spec.forProvider)
  return [
    ...shape.variables
      .filter(({ name, hasDefault }) => !hasDefault && !ours.has(name) && !isGiven(name))
      .map(
        ({ name }) =>
          `spec.variables: the module cannot do without variable "${name}", and nothing can give it: declare it here, or give it a default in the module`,
      ),
    ...[...ours]
      .filter((name) => !theirs.has(name))
      .map(
        (name) =>
          `spec.variables[${name}]: the module has no such variable, and Terraform ignores or refuses a value for it: declare it in the module, or remove it here`,
      ),
  ]
}

type ForProvider = Template['spec']['template']['spec']['forProvider']

// Whether the template itself gives a variable a value. Files and further arguments may give any.
export function givenIn({
  vars = [],
  varmap = {},
  env = [],
  varFiles = [],
  ...args
}: ForProvider): (name: string) => boolean {
  const given = [...(args.planArgs ?? []), ...(args.applyArgs ?? [])]
  if (varFiles.length > 0 || given.some((arg) => /^--?var/.test(arg))) return () => true
  const names = new Set([...vars.map(({ key }) => key), ...Object.keys(varmap), ...env.map(({ name }) => name)])
  return (name) => names.has(name) || names.has(`TF_VAR_${name}`)
}
