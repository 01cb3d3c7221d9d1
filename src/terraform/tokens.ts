// Cuts the text of an HCL module into tokens, as Terraform's own scanner does. A text with all its templates, nested ones
// too, is one token. Knows nothing of blocks.
import { ModuleSyntaxError } from './block.ts'

export interface Token {
  readonly kind: 'word' | 'text' | 'placeholder' | 'mark' | 'newline' | 'end'
  readonly text: string
  readonly at: number
  readonly line: number
}

// What is open around a place: a quote, a heredoc, or a template within one of them.
interface Around {
  readonly in: 'quote' | 'heredoc' | 'template'
  readonly at: number
  readonly line: number
  readonly marker: string // that ends a heredoc
  readonly braces: number // open in a template
}

const word = '[\\p{ID_Start}_][\\p{ID_Continue}-]*'
const code = new RegExp(
  [
    '[ \\t\\r\\uFEFF]+|#[^\\n]*|//[^\\n]*',
    '(\\n)',
    `(${word})`,
    `<<-?(${word})\\r?\\n`,
    '(\\$\\{[^{}"\\n]*\\})',
    '(/\\*|==|=>|!=|<=|>=|[^])',
  ].join('|'),
  'uy',
)
// `$${` and `%%{` stand for themselves; `$` and `%` do so unless a brace follows.
const quote = /[^"\\$%\n]+|\\[^\n]|\$\$\{|%%\{|[$%](?!\{)|([$%]\{)|(")/uy
const heredoc = /[^$%\n]+|\n|\$\$\{|%%\{|[$%](?!\{)|([$%]\{)/uy
// What each group of a pattern finds, in order. Groups with names cost an object a match: as much as all else here.
const patterns = {
  template: { pattern: code, finds: ['blank', 'newline', 'word', 'heredoc', 'placeholder', 'mark'] },
  quote: { pattern: quote, finds: ['literal', 'template', 'close'] },
  heredoc: { pattern: heredoc, finds: ['literal', 'template'] },
} as const

// Throws a ModuleSyntaxError when a text or a comment is never closed.
export function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = []
  const around: Around[] = [] // a stack of our own: what is nested without end must not exhaust the real one
  let at = 0
  let line = 1
  let endOfLine = text.indexOf('\n')
  const moveTo = (end: number) => {
    for (; endOfLine >= 0 && endOfLine < end; endOfLine = text.indexOf('\n', endOfLine + 1)) line++
    at = end
  }
  const leave = () => {
    const left = around.pop()
    if (left && around.length === 0)
      tokens.push({ kind: 'text', text: text.slice(left.at, at), at: left.at, line: left.line })
  }

  while (at < text.length) {
    const inner = around.at(-1)
    if (inner?.in === 'heredoc' && text[at - 1] === '\n') {
      if (endOfLine >= 0 && text.slice(at, endOfLine).trim() === inner.marker) {
        moveTo(endOfLine)
        leave()
        continue
      }
    }
    const began = { at, line }
    const { pattern, finds } = patterns[inner?.in ?? 'template']
    pattern.lastIndex = at
    const found = pattern.exec(text)
    if (!found) break
    moveTo(pattern.lastIndex)

    let group = finds.length - 1
    while (group > 0 && found[group] === undefined) group--
    const what = finds[group]
    const mark = what === 'mark' ? found[0] : ''
    if (what === 'template') around.push({ ...began, in: 'template', marker: '', braces: 0 })
    else if (what === 'heredoc') around.push({ ...began, in: 'heredoc', marker: found[group] ?? '', braces: 0 })
    else if (mark === '"') around.push({ ...began, in: 'quote', marker: '', braces: 0 })
    else if (mark === '/*') {
      const end = text.indexOf('*/', at)
      if (end < 0) throw new ModuleSyntaxError(`line ${line}: this comment is never closed: write */ behind it`)
      moveTo(end + 2)
    } else if (what === 'close') leave()
    else if (inner?.in === 'template') {
      const braces = inner.braces + (mark === '{' ? 1 : mark === '}' ? -1 : 0)
      if (braces < 0) leave()
      else if (braces !== inner.braces) around[around.length - 1] = { ...inner, braces }
    } else if (!inner && (what === 'newline' || what === 'word' || what === 'placeholder' || what === 'mark')) {
      tokens.push({ kind: what, text: found[0], at: began.at, line: began.line })
    }
  }

  const open = around.at(-1)
  if (open) throw new ModuleSyntaxError(`line ${open.line}: ${neverClosed(open)}`)
  return [...tokens, { kind: 'end', text: 'the end', at, line }]
}

function neverClosed({ in: what, marker }: Around): string {
  switch (what) {
    case 'quote':
      return 'this text is never closed: write " at its end, on the same line'
    case 'heredoc':
      return `this heredoc is never closed: write ${marker} behind it, on a line of its own`
    case 'template':
      return 'this template is never closed: write } behind it'
  }
}
