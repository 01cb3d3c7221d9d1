// Reads a module written in HCL as far as its blocks and arguments. Of expressions it knows only where they end: it complains
// of what Terraform is sure to refuse, and leaves the rest to Terraform.
import { type Block, isVagueName, ModuleSyntaxError, type ReadModule } from './block.ts'
import { type Token, tokensOf } from './tokens.ts'

interface OpenBlock extends Block {
  readonly line: number
  readonly arguments: Map<string, string>
  readonly blocks: OpenBlock[]
}

interface Cursor {
  peek(): Token
  next(): Token
}

// Throws a ModuleSyntaxError, which names the line.
export function readHcl(text: string): ReadModule {
  const cursor = cursorOn(tokensOf(text))
  const module = blockOf([], 1)
  const open = [module] // a stack of our own: blocks nested without end must not exhaust the real one
  let mayDeclareMore = false
  for (;;) {
    const inner = open.at(-1) ?? module
    const token = cursor.next()
    if (token.kind === 'newline') continue
    if (token.kind === 'end') {
      if (inner !== module) throw refused(inner, `this block is never closed: write } behind it`)
      return { blocks: module.blocks, mayDeclareMore }
    }
    if (isMark(token, '}')) {
      if (inner === module) throw refused(token, 'this } closes nothing: remove it')
      open.pop()
      endLine(cursor)
      continue
    }
    const header = readHeader(cursor, token)
    const isVague = header.some(isVagueToken)
    if (isVague && (isVagueToken(token) || ['variable', 'output'].includes(token.text))) mayDeclareMore = true
    if (isArgument(cursor, header)) {
      readArgument(cursor, inner, header, text)
      endLine(cursor)
    } else if (isMark(cursor.peek(), '{') && (isVague || token.kind === 'word')) {
      cursor.next()
      const block = blockOf(header, token.line)
      inner.blocks.push(block)
      if (isOneLine(cursor)) readOneLine(cursor, block, text)
      else open.push(block)
    } else if (!isVague)
      throw refused(token, `${tell(token)} begins neither an argument (name = …) nor a block (name { … })`)
  }
}

function cursorOn(tokens: readonly Token[]): Cursor {
  const end: Token = tokens.at(-1) ?? { kind: 'end', text: 'the end', at: 0, line: 1 }
  let at = 0
  return { peek: () => tokens[at] ?? end, next: () => tokens[at++] ?? end }
}

// What stands before = or {. What a placeholder stands for is not known, so beside one everything is taken.
function readHeader(cursor: Cursor, first: Token): readonly Token[] {
  const header = [first]
  let isVague = isVagueToken(first)
  for (let token = cursor.peek(); ; token = cursor.peek()) {
    const isLabel = token.kind === 'word' || token.kind === 'text' || token.kind === 'placeholder'
    if (!isLabel && !(isVague && token.kind === 'mark' && !isMark(token, '={}'))) return header
    isVague ||= isVagueToken(token)
    header.push(cursor.next())
  }
}

function blockOf([type, label]: readonly Token[], line: number): OpenBlock {
  return {
    type: type?.text ?? '',
    name: label && !isVagueToken(label) ? label.text.replaceAll('"', '') : undefined,
    place: () => `line ${line}`,
    line,
    arguments: new Map(),
    blocks: [],
  }
}

// A block whose { is not at the end of its line holds one argument at most, and ends on the same line.
function isOneLine(cursor: Cursor): boolean {
  return !['newline', 'end'].includes(cursor.peek().kind)
}

function readOneLine(cursor: Cursor, block: OpenBlock, text: string): void {
  if (!isMark(cursor.peek(), '}')) {
    const header = readHeader(cursor, cursor.next())
    if (isArgument(cursor, header)) readArgument(cursor, block, header, text)
    else if (header.some(isVagueToken)) block.arguments.set(nameOf(header), '')
    else throw manyOnOneLine(block)
  }
  if (!isMark(cursor.next(), '}')) throw manyOnOneLine(block)
  endLine(cursor)
}

function manyOnOneLine(block: OpenBlock): ModuleSyntaxError {
  return refused(block, 'a block on one line holds one argument: begin a new line behind {, and behind each argument')
}

function isArgument(cursor: Cursor, header: readonly Token[]): boolean {
  const isName = header.length === 1 && header[0]?.kind === 'word'
  return isMark(cursor.peek(), '=') && (isName || header.some(isVagueToken))
}

function nameOf(header: readonly Token[]): string {
  return header.map(({ text }) => text).join('')
}

function readArgument(cursor: Cursor, block: OpenBlock, header: readonly Token[], text: string): void {
  const equals = cursor.next()
  const [name = equals] = header
  const value = readExpression(cursor, name, text)
  if (block.arguments.has(nameOf(header)) && !header.some(isVagueToken))
    throw refused(name, `${name.text} stands twice in one block: remove one`)
  block.arguments.set(nameOf(header), value)
}

const closers: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' }

// Reads up to the end of the line, or to a } that closes something else; within brackets a line may end.
function readExpression(cursor: Cursor, name: Token, text: string): string {
  const from = cursor.peek().at
  let to = from
  let isVague = false
  const open: Token[] = []
  for (let token = cursor.peek(); ; token = cursor.peek()) {
    const opener = open.at(-1)
    if (!opener && (token.kind === 'newline' || token.kind === 'end' || isMark(token, '}'))) break
    if (opener && token.kind === 'end')
      throw refused(opener, `this ${opener.text} is never closed: write ${closers[opener.text]} behind it`)
    if (isMark(token, '([{')) open.push(token)
    else if (isMark(token, ')]}')) {
      if (!opener) throw refused(token, `this ${token.text} closes nothing: remove it`)
      if (closers[opener.text] !== token.text)
        throw refused(token, `this ${token.text} does not close the ${opener.text} of line ${opener.line}`)
      open.pop()
    } else if (!opener && !isVague && isMark(token, ',='))
      throw refused(
        token,
        `${tell(token)} cannot follow the value of ${tell(name)}: write each argument on a line of its own`,
      )
    isVague ||= token.kind === 'placeholder'
    cursor.next()
    to = token.at + token.text.length
  }
  if (to === from) throw refused(name, `${tell(name)} has no value: write one behind =`)
  return text.slice(from, to)
}

function endLine(cursor: Cursor): void {
  const token = cursor.peek()
  if (token.kind !== 'newline' && token.kind !== 'end') throw refused(token, `${tell(token)} must begin a new line`)
}

function isMark(token: Token, marks: string): boolean {
  return token.kind === 'mark' && marks.includes(token.text)
}

function isVagueToken(token: Token): boolean {
  return token.kind === 'placeholder' || (token.kind === 'text' && isVagueName(token.text))
}

// A text is never told: it may be a secret.
function tell({ kind, text }: Token): string {
  return kind === 'text' ? 'the text' : text
}

function refused({ line }: { readonly line: number }, why: string): ModuleSyntaxError {
  return new ModuleSyntaxError(`line ${line}: ${why}`)
}
