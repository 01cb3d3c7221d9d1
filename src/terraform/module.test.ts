import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anyModule, mangled } from '../../test/terraform-modules.ts'
import { type Shape, shapeOf } from './module.ts'

const nothing: Shape = { variables: [], outputs: [], backend: undefined, isWhole: true, complaints: [] }
const plain = { type: undefined, hasDefault: false, isSensitive: false, isNullable: true }

test('a module in HCL is known by its variables, its outputs and its backend', () => {
  const module = `
terraform {
  required_version = ">= 1.5" # not: variable "hidden" {}
  backend "s3" {
    key = "state"
  }
}
/* variable "commented" {
} */
variable "name" {}
variable "zones" {
  type = list(
    object({ name = string }) // two lines
  )
  default   = [{ name = "a}" }]
  nullable  = false
  sensitive = true
  validation {
    condition     = length(var.zones) > 0
    error_message = "variable \\"zones\\" { needs \${1 + 1} of \${{ a = "}" }.a} }"
  }
}
resource "terraform_data" "a" {
  input = <<-EOT
    variable "in_a_heredoc" {
    \${jsonencode({ a = "\${var.name}" })} $\${ %{ if true }}%{ endif }
    EOT
}
output plain { value = var.name }
output "secret" {
  value     = "}"
  sensitive = "true"
}`
  expect(shapeOf(module, 'HCL')).toEqual({
    ...nothing,
    variables: [
      { ...plain, name: 'name' },
      {
        name: 'zones',
        type: 'list(\n    object({ name = string }) // two lines\n  )',
        hasDefault: true,
        isSensitive: true,
        isNullable: false,
      },
    ],
    outputs: [
      { name: 'plain', isSensitive: false },
      { name: 'secret', isSensitive: true },
    ],
    backend: 's3',
  })
})

test('a module in JSON is known by the same, wherever a list stands for one', () => {
  const module = `[{
    "//": "comments stand twice",
    "//": "\\u007b",
    "terraform": [{ "backend": [{ "s3": { "key": "state" } }] }],
    "variable": { "name": {}, "zones": [{ "type": "list(string)", "default": null, "sensitive": true, "nullable": "false" }] },
    "variable": [{ "none": null }, { "constructor": { "validation": {}, "validation": {} } }],
    "constructor": { "nothing": {} }
  }, { "output": { "a": { "value": [1, -2.5e3, { "x": "\${var.name} \u0085" }], "sensitive": "true" } } }]`
  expect(shapeOf(module, 'JSON')).toEqual({
    ...nothing,
    variables: [
      { ...plain, name: 'name' },
      { name: 'zones', type: 'list(string)', hasDefault: true, isSensitive: true, isNullable: false },
      { ...plain, name: 'constructor' },
    ],
    outputs: [{ name: 'a', isSensitive: true }],
    backend: 's3',
  })
})

test('a cloud block is a backend too', () => {
  expect(shapeOf('terraform {\n  cloud {\n  }\n}', 'HCL').backend).toBe('cloud')
  expect(shapeOf('{"terraform":{"cloud":{}}}', 'JSON').backend).toBe('cloud')
})

describe('in HCL', () => {
  test.each([
    ['variable "a" {\n  type = string\n', 'line 1: this block is never closed: write } behind it'],
    ['locals {\n}\n}\n', 'line 3: this } closes nothing: remove it'],
    ['locals {\n  a = [1, (2]\n}', 'line 2: this ] does not close the ( of line 2'],
    ['locals {\n  a = 1)\n}', 'line 2: this ) closes nothing: remove it'],
    ['locals {\n  a = {\n    b = [\n}', 'line 4: this } does not close the [ of line 3'],
    ['locals {\n  a = f(\n    1\n', 'line 2: this ( is never closed: write ) behind it'],
    ['locals {\n  a = "x\n}', 'line 2: this text is never closed: write " at its end, on the same line'],
    ['locals {\n  a = "x\\\n"}', 'line 2: this text is never closed: write " at its end, on the same line'],
    ['locals {\n  a = "x ${f("y")\n', 'line 2: this template is never closed: write } behind it'],
    ['locals {\n  a = <<E\n\n b E\n', 'line 2: this heredoc is never closed: write E behind it, on a line of its own'],
    ['a = <<E\nx\nEE', 'line 1: this heredoc is never closed: write E behind it, on a line of its own'],
    ['a = <<E\nx\nE', 'line 1: this heredoc is never closed: write E behind it, on a line of its own'],
    ['a = 1\n/* x', 'line 2: this comment is never closed: write */ behind it'],
    ['locals {\n  a =\n}', 'line 2: a has no value: write one behind ='],
    ['locals {\n  a = 1,\n}', 'line 2: , cannot follow the value of a: write each argument on a line of its own'],
    ['locals {\n  a = 1 b = 2\n}', 'line 2: = cannot follow the value of a: write each argument on a line of its own'],
    ['locals {\n  a = 1\n  a = 2\n}', 'line 3: a stands twice in one block: remove one'],
    ['locals {\n  a = 1 }', 'line 2: } must begin a new line'],
    ['locals {} locals {}', 'line 1: locals must begin a new line'],
    ['locals { a = 1\n}', 'line 1: a block on one line holds one argument: begin a new line behind {'],
    ['locals { a }', 'line 1: a block on one line holds one argument: begin a new line behind {'],
    ['locals { a {} }', 'line 1: a block on one line holds one argument: begin a new line behind {'],
    ['\nvariable\n"a" {}', 'line 2: variable begins neither an argument (name = …) nor a block (name { … })'],
    ['a : 1', 'line 1: a begins neither an argument (name = …) nor a block (name { … })'],
    ['"a" {\n}', 'line 1: the text begins neither an argument (name = …) nor a block (name { … })'],
    ['"a" = 1', 'line 1: the text begins neither an argument (name = …) nor a block (name { … })'],
    ['variable "a" {}\noutput "a" {}\nvariable "a" {}', 'line 3: variable "a" is declared twice: remove one'],
  ])('%j is refused', (module, says) => {
    const { complaints } = shapeOf(module, 'HCL')
    expect(complaints).toHaveLength(1)
    expect(complaints[0]).toContain(says)
  })

  test.each([
    'a = "$" # x',
    'a = "100%"',
    'a = "$$${b}%%{c}"',
    'a = "\\\\" // "',
    'a = "${b}${"${c}"}"',
    'a = "${<<X\n}"\nX\n}"',
    'a = <<E-T\r\n"\r\n$\r\n${b}E-T\r\n  E-T\t\r\n',
    'a = "${ b /* } */ # }\n }"',
    'a = b == c ? d : [for e in f : e if e >= 1]',
    'a = { for b in c : b => b... }',
    'a /* \n */ = 1 /* \n\n */',
    'é "ü" {}',
    '\uFEFFa = 1\r\nb {\r\n}\r\n',
    '',
  ])('%j is left to Terraform', (module) => {
    expect(shapeOf(module, 'HCL')).toEqual(nothing)
  })

  test.each([
    ['name = ${cluster}', true],
    ['name = ${cluster}-${WORKSPACE_NAME}, = ${x}', true],
    ['locals { a = f(${x}, "${y}") }', true],
    ['resource "aws_vpc" "${cluster}" {\n}', true],
    ['resource aws_vpc ${cluster}-vpc.x {\n}', true],
    ['resource "aws_vpc" "a" { name = ${cluster} }', true],
    ['variable "${cluster}" {}', false],
    ['${kind} "a" {\n}', false],
    ['${line}\n', false],
    ['variable "a" {\n  ${key} = 1\n  ${key} = 2\n}', false],
    ['variable "a" { ${key}x = 1 }', false],
    ['variable "a" { ${line} }', false],
    ['locals { ${line} }', true],
  ])('a placeholder in %j is no mistake', (module, isWhole) => {
    expect(shapeOf(module, 'HCL')).toMatchObject({ complaints: [], isWhole })
  })

  test('a text is never told: it may be a secret', () => {
    expect(shapeOf('password = "a" hunter2 = "hunter3"\n"hunter3" {', 'HCL').complaints.join()).not.toContain('hunter3')
    expect(shapeOf('locals {\n} "hunter3"', 'HCL').complaints).toEqual(['line 2: the text must begin a new line'])
  })
})

describe('in JSON', () => {
  test.each([
    ['', 'line 1, column 1: a value was expected'],
    ['"a"', 'line 1, column 1: a module is an object: begin it with {'],
    ['{\n  "a": 1,\n}', 'line 3, column 1: a key was expected'],
    ['{\n  "a" 1\n}', 'line 2, column 7: a : was expected behind the key'],
    ['{ "a": [1 2] }', 'line 1, column 11: a comma or ] was expected'],
    ['{ "a": [1, ] }', 'line 1, column 12: a value was expected'],
    ['{ "a": 1 ', 'line 1, column 10: a comma or } was expected'],
    ["{ 'a': 1 }", 'line 1, column 3: a key was expected'],
    ['{ "a": "x\ny" }', 'line 1, column 8: a value was expected'],
    ['{ "a": "\\q" }', 'line 1, column 8: a value was expected'],
    ['{ "a": True }', 'line 1, column 8: a value was expected'],
    ['{ "a": 01 }', 'line 1, column 8: a value was expected'],
    ['{} {}', 'line 1, column 4: nothing may follow the module'],
    ['{ "variable": { "a": {},\n  "a": {} } }', 'line 2, column 3: variable "a" is declared twice'],
    ['{ "output": { "a": { "value": 1, "value": 2 } } }', 'line 1, column 34: value stands twice in one output'],
  ])('%j is refused', (module, says) => {
    const { complaints } = shapeOf(module, 'JSON')
    expect(complaints).toHaveLength(1)
    expect(complaints[0]).toContain(says)
  })

  test.each([
    ['{ "locals": { "a": ${count} } }', true],
    ['{ "locals": { "a": [${a}, 1${b}] } }', true],
    ['{ "resource": { "aws_vpc": { "${cluster}": {} } } }', true],
    ['{ "variable": { "${cluster}": {} } }', false],
    ['{ "variable": { "a": { "${key}": 1, "${key}": 2 } } }', false],
    ['{ "${kind}": { "a": {} } }', false],
  ])('a placeholder in %j is no mistake', (module, isWhole) => {
    expect(shapeOf(module, 'JSON')).toMatchObject({ complaints: [], isWhole })
  })
})

test('what is nested deeper than anybody looks hides nothing behind it', () => {
  const deep = `${'{ "a": ['.repeat(1000)}1${'] }'.repeat(1000)}`
  const { variables, complaints } = shapeOf(`{ "locals": ${deep}, "variable": { "a": {} } }`, 'JSON')
  expect({ variables, complaints }).toEqual({ variables: [{ ...plain, name: 'a' }], complaints: [] })
})

test('every module that is made up is known for what it is', () => {
  fc.assert(
    fc.property(anyModule(), ({ format, text, variables, outputs }) => {
      expect(shapeOf(text, format)).toEqual({ ...nothing, variables, outputs })
    }),
  )
})

test('a placeholder for any word of a module is no mistake, unless an escape or a heredoc hangs on it', () => {
  const withPlaceholder = anyModule().chain(({ format, text }) => {
    const words = [...text.matchAll(/(?<![\\\w<-])[a-z0-9]+/g)]
    return fc.constantFrom(undefined, ...words).map((word) => ({
      format,
      text: word ? `${text.slice(0, word.index)}\${key}${text.slice(word.index + word[0].length)}` : text,
    }))
  })
  fc.assert(
    fc.property(withPlaceholder, ({ format, text }) => {
      expect(shapeOf(text, format).complaints).toEqual([])
    }),
    { numRuns: 500 },
  )
})

test('any text is read to its end, or refused in a sentence that names the line', () => {
  const texts = fc.oneof(
    anyModule().chain(({ text }) => mangled(text)),
    fc.string({
      unit: fc.constantFrom(
        '"',
        '${',
        '{',
        '}',
        '[',
        ')',
        '=',
        ',',
        ':',
        '\\',
        '\n',
        ' ',
        '%',
        '#',
        '/*',
        '<<E\n',
        'E',
        '~',
        '1',
        'é',
      ),
      maxLength: 40,
    }),
    fc.string({ unit: 'binary' }),
  )
  fc.assert(
    fc.property(texts, fc.constantFrom('HCL' as const, 'JSON' as const), (text, format) => {
      for (const complaint of shapeOf(text, format).complaints)
        expect(complaint).toMatch(/^line \d+(, column \d+)?: [^\n]+$/)
    }),
    { numRuns: 1000 },
  )
})

// As large as a module may be. What takes the square of its length takes minutes here.
test.each(['(', '{', '"${', '<<A\n', '"', '$', '\n', 'a {\n', 'a{}\n', '{"a":', '"a":{},', '"\\u'])(
  '%j over and over exhausts neither the stack nor patience',
  (piece) => {
    for (const start of ['', 'a = ', '{"variable":{']) {
      const text = start + piece.repeat(200_000 / piece.length)
      for (const format of ['HCL', 'JSON'] as const) expect(shapeOf(text, format).complaints.length).toBeLessThan(2)
    }
  },
)
