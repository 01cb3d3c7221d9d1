import { describe, expect, test } from 'vitest'
import type { WorkspaceTemplate } from '../api/workspacetemplate.ts'
import { complaintsOf, revisionOf } from './template.ts'

type Spec = WorkspaceTemplate['spec']
type ForProvider = Spec['template']['spec']['forProvider']
type Variable = NonNullable<Spec['variables']>[number]

const module = 'variable "name" {}\nvariable "size" {\n  default = 1\n}\noutput "id" { value = var.name }\n'

function aTemplate(forProvider: Partial<ForProvider> = {}, variables?: readonly Variable[]): { readonly spec: Spec } {
  const spec: Spec = { template: { spec: { forProvider: { source: 'Inline', module, ...forProvider } } } }
  return { spec: variables ? { ...spec, variables: [...variables] } : spec }
}

function aVariable(name: string, fields: Partial<Variable> = {}): Variable {
  return { name, type: 'any', required: false, sensitive: false, ...fields }
}

const aMap = (values: object) => ({ ...values })

const name = aVariable('name', { type: 'string' })

describe('there is no complaint of', () => {
  test.each<[string, { readonly spec: Spec }]>([
    ['a module without declared variables', aTemplate()],
    ['a module whose variables are declared, as far as they are required', aTemplate({}, [name])],
    ['defaults that fit', aTemplate({}, [name, aVariable('size', { type: 'number', default: '3' })])],
    ['a default that is no integer', aTemplate({}, [name, aVariable('size', { default: [1.5, 2 ** 53 - 1] })])],
    ['a default of null', aTemplate({}, [aVariable('name', { type: 'list(string)', default: null })])],
    ['a required variable that vars gives', aTemplate({ vars: [{ key: 'name', value: 'x' }] }, [])],
    ['a required variable that varmap gives', aTemplate({ varmap: aMap({ name: 'x' }) }, [])],
    ['a required variable that the environment gives', aTemplate({ env: [{ name: 'TF_VAR_name', value: 'x' }] }, [])],
    ['a required variable that a file may give', aTemplate({ varFiles: [{ source: 'SecretKey' }] }, [])],
    ['a required variable that arguments may give', aTemplate({ planArgs: ['-var-file=x.tfvars'] }, [])],
    ['a required variable that arguments of apply may give', aTemplate({ applyArgs: ['-var=name=x'] }, [])],
    ['a module that is elsewhere', aTemplate({ source: 'Remote', module: 'git::https://example.com/{' }, [name])],
    ['a module with a placeholder for a name', aTemplate({ module: 'variable "${key}" {}' }, [name])],
    ['a module in JSON', aTemplate({ module: '{"variable":{"name":{}}}', inlineFormat: 'JSON' }, [name])],
  ])('%s', (_, template) => {
    expect(complaintsOf(template)).toEqual([])
  })
})

describe('a complaint names the place:', () => {
  test.each<[string, { readonly spec: Spec }, string]>([
    [
      'a module that is broken',
      aTemplate({ module: 'locals {\n  a = [\n}' }, [name]),
      'InvalidModule: spec.template.spec.forProvider.module, line 3: this } does not close the [ of line 2',
    ],
    [
      'a module that is HCL where JSON should be',
      aTemplate({ inlineFormat: 'JSON' }),
      'InvalidModule: spec.template.spec.forProvider.module, line 1, column 1: a value was expected',
    ],
    [
      'a required variable that is not declared',
      aTemplate({ planArgs: ['-parallelism=2'], varmap: aMap({ size: 1 }) }, []),
      'InvalidVariables: spec.variables: the module cannot do without variable "name"',
    ],
    [
      'a declared variable that the module has not',
      aTemplate({}, [name, aVariable('nmae')]),
      'InvalidVariables: spec.variables[nmae]: the module has no such variable',
    ],
    [
      'a type that is none',
      aTemplate({}, [aVariable('name', { type: 'list(strng)' })]),
      'InvalidVariables: spec.variables[name].type: "strng" is no type',
    ],
    [
      'a default of another type',
      aTemplate({}, [name, aVariable('size', { type: 'list(number)', default: [1, 'x'] })]),
      'InvalidVariables: spec.variables[size].default[1] must be number, and is text',
    ],
    [
      'a default that Terraform would change',
      aTemplate({}, [aVariable('name', { default: { a: ['e\u0301'] } })]),
      "InvalidVariables: spec.variables[name].default.a[0] is not in Unicode's normal form NFC",
    ],
    [
      'a key that Terraform would change',
      aTemplate({}, [aVariable('name', { default: { 'e\u0301': 1 } })]),
      "InvalidVariables: a key of spec.variables[name].default is not in Unicode's normal form NFC",
    ],
    [
      'a number that nobody can hold',
      aTemplate({}, [aVariable('name', { default: [-(2 ** 53)] })]),
      'InvalidVariables: spec.variables[name].default[0] is an integer beyond 2^53',
    ],
    [
      'a variable that stands twice',
      aTemplate({}, [name, name]),
      'InvalidVariables: spec.variables[name] is declared twice',
    ],
  ])('%s', (_, template, says) => {
    const told = complaintsOf(template).map(({ reason, message }) => `${reason}: ${message}`)
    expect(told).toHaveLength(1)
    expect(told[0]).toContain(says)
  })

  test('and never a value, which may be a secret', () => {
    const template = aTemplate({}, [aVariable('name', { type: 'number', default: 'hunter2e\u0301' })])
    expect(complaintsOf(template)).toHaveLength(2)
    expect(JSON.stringify(complaintsOf(template))).not.toContain('hunter2')
  })
})

describe('a revision', () => {
  const { spec } = aTemplate({}, [name, aVariable('size')])
  const given = revisionOf({ spec })

  test('stays what it is from one version to the next', () => {
    expect(given).toBe('e128fc83d297393ac8a02c30e34ce4cb')
  })

  test.each<[string, Spec]>([
    ['the module', { ...spec, template: { spec: { forProvider: { source: 'Inline', module: `${module}#` } } } }],
    ['a default', { ...spec, variables: [name, aVariable('size', { default: 1 })] }],
    ['being sensitive', { ...spec, variables: [{ ...name, sensitive: true }, aVariable('size')] }],
    ['a name', { ...spec, variables: [name, aVariable('sizes')] }],
    ['the engine', { ...spec, workspaceAPI: 'tf.m.upbound.io' }],
    ['where outputs go', { ...spec, writeConnectionSecretToRef: { name: 'outputs' } }],
  ])('changes with %s', (_, changed) => {
    expect(revisionOf({ spec: changed })).not.toBe(given)
  })

  test.each<[string, Spec]>([
    ['the order of variables', { ...spec, variables: [aVariable('size'), name] }],
    ['what is said of a variable', { ...spec, variables: [{ ...name, description: 'new' }, aVariable('size')] }],
    ['what is said of the template', { ...spec, template: { ...spec.template, metadata: { version: '2' } } }],
  ])('does not change with %s', (_, changed) => {
    expect(revisionOf({ spec: changed })).toBe(given)
  })
})
