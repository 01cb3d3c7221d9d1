// What a module declares: its variables, its outputs, where it keeps its state. Pure; Terraform is not asked.
import { type Block, isVagueName, ModuleSyntaxError, type ReadModule } from './block.ts'
import { readHcl } from './hcl.ts'
import { readJson } from './json.ts'

export interface ModuleVariable {
  readonly name: string
  readonly type: string | undefined // as it is written
  readonly hasDefault: boolean
  readonly isSensitive: boolean
  readonly isNullable: boolean
}

export interface ModuleOutput {
  readonly name: string
  readonly isSensitive: boolean
}

export interface Shape {
  readonly variables: readonly ModuleVariable[]
  readonly outputs: readonly ModuleOutput[]
  readonly backend: string | undefined // its kind, `cloud` included; undefined: the engine chooses
  readonly isWhole: boolean // false: there may be more than could be read
  readonly complaints: readonly string[] // each names its line
}

export function shapeOf(module: string, format: 'HCL' | 'JSON'): Shape {
  try {
    return shapeOfBlocks(format === 'JSON' ? readJson(module) : readHcl(module))
  } catch (error) {
    if (!(error instanceof ModuleSyntaxError)) throw error
    return { variables: [], outputs: [], backend: undefined, isWhole: false, complaints: [error.message] }
  }
}

// Where a module keeps its state, with all that is said of it, as a value that can be compared.
export interface StateBlock {
  readonly kind: string // of the backend, `cloud` included
  readonly settings: Settings
}

interface Settings {
  readonly given: Readonly<Record<string, string>> // as they are written
  readonly blocks: readonly unknown[]
}

export function stateBlockOf(module: string, format: 'HCL' | 'JSON' = 'HCL'): StateBlock | undefined {
  try {
    const block = stateBlockIn((format === 'JSON' ? readJson(module) : readHcl(module)).blocks)
    return block && { kind: block.name ?? block.type, settings: settingsOf(block) }
  } catch (error) {
    if (!(error instanceof ModuleSyntaxError)) throw error
    return undefined
  }
}

function stateBlockIn(blocks: readonly Block[]): Block | undefined {
  const inTerraform = blocks.filter(({ type }) => type === 'terraform').flatMap((each) => each.blocks)
  return inTerraform.find(({ type }) => type === 'backend' || type === 'cloud')
}

function settingsOf({ arguments: given, blocks }: Block): Settings {
  return {
    given: Object.fromEntries(given),
    blocks: blocks.map((block) => [block.type, block.name, settingsOf(block)]),
  }
}

function shapeOfBlocks({ blocks, mayDeclareMore }: ReadModule): Shape {
  const named = (type: string) =>
    blocks.flatMap((block) => (block.type === type && block.name !== undefined ? [{ ...block, name: block.name }] : []))
  const state = stateBlockIn(blocks)
  return {
    variables: named('variable').map(({ name, arguments: given }) => ({
      name,
      type: given.get('type'),
      hasDefault: given.has('default'),
      isSensitive: isTrue(given.get('sensitive')),
      isNullable: !isFalse(given.get('nullable')),
    })),
    outputs: named('output').map(({ name, arguments: given }) => ({
      name,
      isSensitive: isTrue(given.get('sensitive')),
    })),
    backend: state && (state.name ?? state.type),
    isWhole: !mayDeclareMore && !named('variable').some((each) => [...each.arguments.keys()].some(isVagueName)),
    complaints: [...secondOf(named('variable')), ...secondOf(named('output'))],
  }
}

// The first of the blocks whose name another has already.
function secondOf(blocks: readonly Block[]): readonly string[] {
  const names = new Set<string | undefined>()
  for (const { type, name, place } of blocks) {
    if (names.has(name)) return [`${place()}: ${type} "${name}" is declared twice: remove one`]
    names.add(name)
  }
  return []
}

// Terraform takes a boolean in quotes too.
function isTrue(text: string | undefined): boolean {
  return text === 'true' || text === '"true"'
}
function isFalse(text: string | undefined): boolean {
  return text === 'false' || text === '"false"'
}
