// Reads a module written in JSON as far as its variables, outputs and backend. Unlike JSON.parse it keeps what stands twice, says
// where something is wrong, and takes a placeholder for a value.
import { type Block, isVagueName, ModuleSyntaxError, type ReadModule } from './block.ts'

interface Span {
  readonly at: number
  readonly text: string
}
interface Entry extends Span {
  readonly key: string
  readonly value: Json
}
interface Body extends Span {
  readonly is: 'object'
  readonly entries: readonly Entry[]
}
type Json =
  | Body
  | (Span & { readonly is: 'list'; readonly items: readonly Json[] })
  | (Span & { readonly is: 'scalar' })

interface Cursor {
  readonly text: string
  peek(): Span // '' at the end
  next(): Span
}

// Throws a ModuleSyntaxError, which names line and column.
export function readJson(text: string): ReadModule {
  const cursor = cursorOn(text)
  const root = readValue(cursor)
  if (cursor.peek().text !== '') throw refused(text, cursor.peek(), 'nothing may follow the module: remove it')
  if (root.is === 'scalar') throw refused(text, root, 'a module is an object: begin it with {')
  const blocks = objectsIn(root).flatMap((body) => blocksIn(text, body))
  const keys = objectsIn(root).flatMap(({ entries }) => entries.map(({ key }) => key))
  const isNameless = ({ type, name }: Block) => name === undefined && labelled.has(type)
  return { blocks, mayDeclareMore: keys.some(isVagueName) || blocks.some(isNameless) }
}

const piece =
  /[ \t\r\n\uFEFF]*(?<text>"(?:[^"\\\p{Cc}]|[\u007f-\u009f]|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*"|[{}[\],:]|(?:\$\{[^{}"\n]*\}|[^\s{}[\],:"])+|[^\s]|)/uy

function cursorOn(text: string): Cursor {
  const read = (from: number): Span => {
    piece.lastIndex = from
    const found = piece.exec(text)?.groups?.['text'] ?? ''
    return { at: piece.lastIndex - found.length, text: found }
  }
  let current = read(0)
  return {
    text,
    peek: () => current,
    next() {
      const taken = current
      current = read(taken.at + taken.text.length)
      return taken
    },
  }
}

const deepest = 500 // deeper than anybody writes, and far from where the stack ends

function readValue(cursor: Cursor, depth = 0): Json {
  const { at, text } = cursor.next()
  if (depth === deepest) return skipValue(cursor, { at, text })
  if (text === '{') {
    const entries: Entry[] = []
    readItems(cursor, '}', () => {
      const key = cursor.next()
      if (!isText(key)) throw refused(cursor.text, key, 'a key was expected: write one in double quotes')
      if (cursor.peek().text !== ':') throw refused(cursor.text, cursor.peek(), 'a : was expected behind the key')
      cursor.next()
      entries.push({ ...key, key: decoded(key), value: readValue(cursor, depth + 1) })
    })
    return { is: 'object', at, text, entries }
  }
  if (text === '[') {
    const items: Json[] = []
    readItems(cursor, ']', () => items.push(readValue(cursor, depth + 1)))
    return { is: 'list', at, text, items }
  }
  if (!isText({ text }) && !/\$\{|^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/.test(text))
    throw refused(
      cursor.text,
      { at },
      'a value was expected: write an object, a list, a number, true, false, null, or text in double quotes',
    )
  return { is: 'scalar', at, text }
}

function readItems(cursor: Cursor, end: '}' | ']', readItem: () => void): void {
  for (let isFirst = true; cursor.peek().text !== end || !isFirst; isFirst = false) {
    readItem()
    const { text, at } = cursor.peek()
    if (text === end) break
    if (text !== ',') throw refused(cursor.text, { at }, `a comma or ${end} was expected`)
    cursor.next()
  }
  cursor.next()
}

// So deep down there is nothing to know.
function skipValue(cursor: Cursor, first: Span): Json {
  const step = ({ text }: Span) => (text === '{' || text === '[' ? 1 : text === '}' || text === ']' ? -1 : 0)
  for (let open = step(first); open > 0; open += step(cursor.next())) if (cursor.peek().text === '') break
  return { ...first, is: 'scalar' }
}

// The blocks that are looked for: those with a name, and those without.
const labelled = new Set(['variable', 'output', 'backend'])
const plain = new Set(['terraform', 'cloud'])
const onlyOnce = new Set(['type', 'default', 'description', 'sensitive', 'nullable', 'value']) // other names may be blocks

// A list of blocks may stand wherever a block may.
function objectsIn(value: Json): readonly Body[] {
  return (value.is === 'list' ? value.items : [value]).filter((each) => each.is === 'object')
}

function blocksIn(text: string, { entries }: Body): readonly Block[] {
  return entries.flatMap(({ key: type, at, value }) => {
    if (plain.has(type)) return objectsIn(value).map((body) => blockOf(text, type, { at }, body))
    if (!labelled.has(type)) return []
    const named = objectsIn(value).flatMap((each) => each.entries)
    return named.flatMap((name) => objectsIn(name.value).map((body) => blockOf(text, type, name, body)))
  })
}

function blockOf(text: string, type: string, { at, key }: Pick<Entry, 'at'> & Partial<Entry>, body: Body): Block {
  const found = new Map<string, string>()
  for (const entry of body.entries) {
    if (found.has(entry.key) && onlyOnce.has(entry.key))
      throw refused(text, entry, `${entry.key} stands twice in one ${type}: remove one`)
    found.set(entry.key, isText(entry.value) ? decoded(entry.value) : entry.value.text)
  }
  return {
    type,
    name: key === undefined || isVagueName(key) ? undefined : key,
    place: () => placeOf(text, at),
    arguments: found,
    blocks: type === 'terraform' ? blocksIn(text, body) : [],
  }
}

function isText({ text }: Pick<Span, 'text'>): boolean {
  return text.length > 1 && text.startsWith('"')
}

function decoded({ text }: Pick<Span, 'text'>): string {
  return String(JSON.parse(text))
}

function refused(text: string, { at }: Pick<Span, 'at'>, why: string): ModuleSyntaxError {
  return new ModuleSyntaxError(`${placeOf(text, at)}: ${why}`)
}

function placeOf(text: string, at: number): string {
  const lines = text.slice(0, at).split('\n')
  return `line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}`
}
