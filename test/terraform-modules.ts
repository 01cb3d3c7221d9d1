// Modules of Terraform, made up: right ones, of which it is known what they declare, and mangled ones.
import fc from 'fast-check'
import type { ModuleOutput, ModuleVariable } from '../src/terraform/module.ts'

export interface MadeUpModule {
  readonly format: 'HCL' | 'JSON'
  readonly text: string
  readonly variables: readonly ModuleVariable[]
  readonly outputs: readonly ModuleOutput[]
}

export function anyModule(): fc.Arbitrary<MadeUpModule> {
  return fc.oneof({ arbitrary: hclModule, weight: 3 }, { arbitrary: jsonModule, weight: 1 })
}

// The text with a piece taken out, put in, or put in twice.
export function mangled(text: string): fc.Arbitrary<string> {
  const pieces = [
    '"',
    '{',
    '}',
    '(',
    ')',
    '[',
    ']',
    '\n',
    '=',
    ',',
    '${',
    '%{',
    '$',
    '\\',
    '#',
    '/*',
    '*/',
    '<<E\n',
    'E',
    ' a ',
  ]
  return fc.tuple(fc.nat(text.length), fc.nat(8), fc.constantFrom('', '', ...pieces)).map(([at, length, piece]) => {
    return (text.slice(0, at) + piece + text.slice(at + (piece === '' ? length : 0))).toWellFormed()
  })
}

const names = fc.constantFrom('a', 'b', 'name', 'size_gb', 'Zone-1', 'é', 'variable', 'constructor')
const blank = fc.constantFrom(' ', '  ', '\t', ' /* } " \n */ ', '')
const remark = fc.constantFrom('', '', ' # } ${ "', ' // /* <<E', ' /* { */')
const between = fc.constantFrom('', '\n', '# variable "x" {\n', '// "\n', '/* }\n\n*/\n')

// Expressions that need no evaluation of anything else: what a default may be.
const { constant } = fc.letrec<{ constant: string; text: string }>((tie) => {
  const template = fc.oneof(
    tie('constant').map((value) => `a\${[${value}] == 1}`),
    tie('constant').map((value) => `a\${~ {a = ${value}} != null\n ~}`),
    tie('text').map((value) => `a%{ if true }${value.slice(1, -1)} %{ else }b%{ endif }`),
  )
  const literal = fc.constantFrom(
    'a',
    ' ',
    "'",
    '$$',
    '$ ',
    '%%',
    '$${',
    '%%{',
    '$$${',
    '}',
    '#',
    '//',
    '/*',
    'é',
    '<<E',
    '=',
    ',',
  )
  const joined = (special: fc.Arbitrary<string>) =>
    fc
      .array(
        fc.oneof(
          { arbitrary: literal, weight: 4 },
          { arbitrary: special, weight: 2 },
          { arbitrary: template, weight: 1 },
        ),
        {
          maxLength: 4,
        },
      )
      .map((pieces) => pieces.join(''))
  const heredoc = fc
    .record({
      opener: fc.constantFrom('<<', '<<-'),
      marker: fc.constantFrom('E', 'E-T'),
      lines: fc.array(joined(fc.constantFrom('"', '\\', 'E E')), { maxLength: 3 }),
      indent: fc.constantFrom('', '  ', '\t'),
    })
    .map(({ opener, marker, lines, indent }) =>
      [`${opener}${marker}`, ...lines.map((line) => ` ${line}`), `${indent}${marker}\n`].join('\n'),
    )
  return {
    text: fc
      .tuple(joined(fc.constantFrom('\\"', '\\\\', '\\n', '\\u00e9', '{')), fc.constantFrom('', '$', '%'))
      .map(([text, end]) => `"${text}${end}"`),
    constant: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      fc.constantFrom('1', '-2.5e3', 'true', 'null', '"a"', '[]', '{}'),
      tie('text'),
      heredoc.map((value) => `(${value})`),
      fc.array(tie('constant'), { maxLength: 3 }).map((items) => `[ # ]\n${items.join(' , ')}]`),
      fc
        .array(tie('constant'), { maxLength: 3 })
        .map((items) => `{${items.map((each, index) => `\n k${index} = ${each}`).join('')}\n}`),
      tie('constant').map((value) => `(true ? [${value}] :\n null)`),
      tie('constant').map((value) => `{ for each in [${value}] : "x" => each if 2 >= 1 }`),
      tie('constant').map((value) => `([${value}] == 1)`),
    ),
  }
})

const variable = fc
  .record({
    name: names,
    type: fc.constantFrom(undefined, 'any', 'list(string)', 'object({ a = optional(string, "}") })'),
    value: fc.oneof(fc.constant(undefined), constant),
    isSensitive: fc.boolean(),
    isNullable: fc.boolean(),
    isBare: fc.boolean(),
    form: fc.tuple(blank, remark, between),
  })
  .map(({ name, type, value, isSensitive, isNullable, isBare, form: [space, end, next] }) => {
    // Only `any` takes every default, and only what is nullable takes null.
    const fitting = value === undefined || (type ?? 'any') === 'any' ? value : 'null'
    const given = isNullable || fitting === undefined ? fitting : '"x"'
    const usual = isNullable || (type ?? 'any') === 'any' || given === undefined ? given : undefined
    const lines = [
      type && `type${space}=${space}${type}${end}`,
      usual && `default =${space}${usual}${end}`,
      isSensitive && `sensitive = true${end}`,
      !isNullable && `nullable = false`,
    ].filter((each) => typeof each === 'string')
    const body = lines.length === 0 ? '{}' : `{${end}\n${lines.join(`\n${next}`)}\n}`
    return {
      text: `variable${space || ' '}${isBare ? name : `"${name}"`} ${body}\n`,
      declares: { name, type, hasDefault: usual !== undefined, isSensitive, isNullable },
    }
  })

const output = fc
  .record({ name: names, value: constant, isSensitive: fc.boolean(), form: fc.tuple(blank, remark) })
  .map(({ name, value, isSensitive, form: [space, end] }) => {
    const isOneLine = !isSensitive && !value.includes('\n')
    return {
      text: isOneLine
        ? `output "${name}" { value${space}= ${value} }${end}\n`
        : `output "${name}" {${end}\nvalue${space}= ${value}${end}\n${isSensitive ? 'sensitive = true' : ''}\n}\n`,
      declares: { name, isSensitive },
    }
  })

const hclModule = fc
  .record({
    variables: fc.uniqueArray(variable, { maxLength: 4, selector: ({ declares }) => declares.name }),
    outputs: fc.uniqueArray(output, { maxLength: 3, selector: ({ declares }) => declares.name }),
    locals: fc.array(constant, { maxLength: 2 }),
    between,
    isWindows: fc.boolean(),
  })
  .map(({ variables, outputs, locals, between: next, isWindows }): MadeUpModule => {
    const rest = locals.map((value, index) => `locals {\n  local${index} = ${value}\n}\n`)
    const text = [...variables.map((each) => each.text), ...rest, ...outputs.map((each) => each.text)].join(next)
    return {
      format: 'HCL',
      text: isWindows ? text.replaceAll('\n', '\r\n') : text,
      variables: variables.map(({ declares }) => declares),
      outputs: outputs.map(({ declares }) => declares),
    }
  })

const json = fc
  .jsonValue({ maxDepth: 2, noUnicodeString: false })
  .map((value) => JSON.stringify(value).replaceAll(/[$%]/g, ''))

const jsonModule = fc
  .record({
    variables: fc.uniqueArray(
      fc.record({ name: names, value: fc.option(json, { nil: undefined }), isSensitive: fc.boolean() }),
      {
        maxLength: 4,
        selector: ({ name }) => name,
      },
    ),
    outputs: fc.uniqueArray(fc.record({ name: names, value: json, isSensitive: fc.boolean() }), {
      maxLength: 3,
      selector: ({ name }) => name,
    }),
    isList: fc.boolean(),
    isSplit: fc.boolean(),
    space: fc.constantFrom('', ' ', '\n', '\r\n\t'),
  })
  .map(({ variables, outputs, isList, isSplit, space }): MadeUpModule => {
    const object = (entries: readonly string[]) => `{${entries.map((each) => space + each).join(',')}${space}}`
    const list = (body: string) => (isList ? `[${body}]` : body)
    const ofVariables = variables.map(({ name, value, isSensitive }) => {
      const given = [value === undefined ? [] : [`"default":${value}`], isSensitive ? [`"sensitive":${space}true`] : []]
      return `"${name}":${space}${list(object(['"//": "}"', ...given.flat()]))}`
    })
    const ofOutputs = outputs.map(({ name, value, isSensitive }) => {
      return `"${name}":${object([`"value": ${value}`, ...(isSensitive ? ['"sensitive": true'] : [])])}`
    })
    const blocks = (type: string, entries: readonly string[]) =>
      isSplit
        ? entries.map((each) => `"${type}": ${list(object([each]))}`)
        : entries.length === 0
          ? []
          : [`"${type}": ${list(object(entries))}`]
    return {
      format: 'JSON',
      text: list(object([...blocks('variable', ofVariables), ...blocks('output', ofOutputs)])),
      variables: variables.map(({ name, value, isSensitive }) => ({
        name,
        type: undefined,
        hasDefault: value !== undefined,
        isSensitive,
        isNullable: true,
      })),
      outputs: outputs.map(({ name, isSensitive }) => ({ name, isSensitive })),
    }
  })
