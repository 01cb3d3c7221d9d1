// A picture of a cluster as lines of text, for as wide a terminal as there is. Pure.
import { stripVTControlCharacters } from 'node:util'
import { listed } from '../api/text.ts'
import type { Cause } from '../view/cause.ts'
import { labelOf, type Node, pluralOf } from '../view/node.ts'
import type { Picture } from '../view/picture.ts'
import type { Standing } from '../view/words.ts'
import { cutTo, padded, widthOf, wrapped } from './columns.ts'

export interface Paper {
  readonly width?: number // in columns; none: as wide as it takes
  readonly isColoured: boolean
  readonly isUnicode: boolean
}

export interface Drawing {
  readonly tree: readonly string[]
  readonly reason: readonly string[] // the one worth reading, or that all is well
}

export function draw(picture: Picture, paper: Paper, now: Date): Drawing {
  const rows = rowsIn(picture.tree, paper)
  const state = Math.min(widestState, Math.max(...rows.map(({ node }) => widthOf(node.state))))
  const label = Math.min(Math.max(...rows.map(({ head }) => widthOf(head))), room(paper, state + roomForAge))
  const tree = rows.flatMap((row) => [
    fitted(lineOf(row, { label, state }, paper, now), paper),
    ...detailsOf(row, picture, paper),
  ])
  return {
    tree,
    reason: [...reasonOf(picture, paper, now), ...unseenOf(picture, paper)].map((each) => ascii(each, paper)),
  }
}

const roomForAge = 8 // and what is between them: on a narrow terminal names give way
const widestState = 18 // of which the others are kept in line: a longer one sticks out

const marks: Readonly<Record<Standing, { readonly unicode: string; readonly ascii: string; readonly colour: number }>> =
  {
    ready: { unicode: '●', ascii: '*', colour: 32 },
    waiting: { unicode: '○', ascii: 'o', colour: 39 },
    working: { unicode: '◐', ascii: '~', colour: 33 },
    paused: { unicode: '‖', ascii: '=', colour: 36 },
    asking: { unicode: '?', ascii: '?', colour: 35 },
    failed: { unicode: '✗', ascii: 'x', colour: 31 },
  }
const faint = 2

interface Row {
  readonly node: Node
  readonly head: string // guides, mark and label, without colour
  readonly guide: string // before its mark
  readonly below: string // before its details
}

function rowsIn(tree: Node, { isUnicode }: Paper): readonly Row[] {
  const [tee, corner, bar] = isUnicode ? ['├─ ', '└─ ', '│  '] : ['|- ', '`- ', '|  ']
  const walk = (node: Node, guide: string, under: string): readonly Row[] => {
    const { children } = node
    const below = under + (children.length > 0 ? bar : '   ')
    const last = children.length - 1
    return [
      { node, guide, below, head: `${guide}${markOf(node.standing, isUnicode)} ${labelOf(node)}` },
      ...children.flatMap((child, at) =>
        walk(child, under + (at === last ? corner : tee), under + (at === last ? '   ' : bar)),
      ),
    ]
  }
  return walk(tree, '', '')
}

function markOf(standing: Standing, isUnicode: boolean): string {
  return marks[standing][isUnicode ? 'unicode' : 'ascii']
}

interface Columns {
  readonly label: number
  readonly state: number
}

// Pieces with their colours, so that a line can be cut without cutting a colour.
type Piece = readonly [text: string, colour?: number | undefined]

function lineOf({ node, head, guide }: Row, { label, state }: Columns, paper: Paper, now: Date): readonly Piece[] {
  const { standing, since, until } = node
  const { colour } = marks[standing]
  const age = since === undefined ? '' : ageOf(since, now)
  const expiry = until === undefined ? '' : `token expires in ${ageOf(now.toISOString(), new Date(until))}`
  const rest = [age, expiry].filter(Boolean).join('  ')
  return [
    [guide, faint],
    [markOf(standing, paper.isUnicode), colour],
    [padded(cut(head.slice(guide.length + 1), label - widthOf(guide) - 1, paper), label - widthOf(guide) - 1)],
    ['  '],
    [rest ? padded(plain(node.state), state) : plain(node.state), standing === 'ready' ? undefined : colour],
    [rest ? '  ' : ''],
    [rest, faint],
  ]
}

function fitted(pieces: readonly Piece[], paper: Paper): string {
  const { width = Infinity, isColoured } = paper
  let left = width
  const shown = pieces.map(([text, colour]) => {
    const piece = cut(text, left, paper)
    left -= widthOf(piece)
    return coloured(piece, colour, isColoured)
  })
  return shown.join('').trimEnd()
}

// With a sign that there was more.
function cut(text: string, width: number, { isUnicode }: Paper): string {
  if (widthOf(text) <= width) return text
  const sign = isUnicode ? '…' : '...'
  return width < widthOf(sign) ? '' : cutTo(text, width - widthOf(sign)) + sign
}

// The message of the cause is below the tree: here it would be there twice.
function detailsOf({ node, below }: Row, { cause }: Picture, paper: Paper): readonly string[] {
  const { standing, state, reason = '', message = '' } = node
  if (standing === 'ready' || (cause?.kind === node.kind && cause.name === node.name)) return []
  const why = state.endsWith(reason) ? '' : reason
  const text = [why, message].filter(Boolean).join(': ')
  if (!text) return []
  const { isColoured } = paper
  return wrapped(plain(text), room(paper, below.length)).map(
    (line) => coloured(below, faint, isColoured) + ascii(line, paper),
  )
}

const headings: Readonly<Record<Standing, string>> = {
  ready: '',
  waiting: 'Waits',
  working: 'At work',
  paused: 'Paused',
  asking: 'Waits for you',
  failed: 'Failed',
}

function reasonOf({ cause, isAvailable, endpoint, version }: Picture, paper: Paper, now: Date): readonly string[] {
  const available = `Available${endpoint === undefined ? '' : ` at ${endpoint}`}${version === undefined ? '' : `, Kubernetes ${version}`}`
  const { isColoured } = paper
  if (!cause) {
    const well = isAvailable ? available : 'Nothing is wrong, as far as can be seen.'
    return wrapped(well, room(paper)).map((line) =>
      coloured(line, isAvailable ? marks.ready.colour : undefined, isColoured),
    )
  }
  const isCalm = cause.standing === 'working' || cause.standing === 'waiting'
  return [
    ...(isAvailable ? wrapped(`${available}. ${isCalm ? 'Meanwhile' : 'But'}:`, room(paper)) : []),
    ...causeLines(cause, paper, now),
  ]
}

function causeLines(
  { standing, state, since, message, advice, command, ...it }: Cause,
  paper: Paper,
  now: Date,
): readonly string[] {
  const indented = (text: string) => wrapped(plain(text), room(paper, 2)).map((line) => `  ${line}`)
  const age = since === undefined ? '' : `, ${ageOf(since, now)}`
  const [heading = '', ...more] = wrapped(`${headings[standing]}: ${labelOf(it)} (${state}${age})`, room(paper))
  return [
    coloured(heading, marks[standing].colour, paper.isColoured),
    ...more,
    ...(message === undefined ? [] : indented(message)),
    ...(advice === undefined
      ? []
      : indented(`${paper.isUnicode ? '→' : '->'} ${advice}${command === undefined ? '' : ':'}`)),
    ...(command === undefined ? [] : [`  ${plain(command)}`]), // whole, to be copied
  ]
}

function unseenOf({ unseen }: Picture, paper: Paper): readonly string[] {
  return unseen.length === 0
    ? []
    : wrapped(
        `Not shown: ${listed(
          unseen.map(({ kind, why }) => `${pluralOf(kind)} (${plain(why)})`),
          4,
          '; ',
        )}`,
        room(paper),
      )
}

function room({ width = Infinity }: Paper, taken = 0): number {
  return Math.max(20, width - taken)
}

// Whoever writes a message may write what a terminal obeys.
function plain(text: string): string {
  return stripVTControlCharacters(text).replaceAll(/(?!\n)\p{Cc}/gu, ' ')
}

function ascii(text: string, { isUnicode }: Paper): string {
  return isUnicode ? text : text.replaceAll('…', '...')
}

function coloured(text: string, colour: number | undefined, isColoured: boolean): string {
  return isColoured && colour !== undefined && text ? `\u001B[${colour}m${text}\u001B[0m` : text
}

// 12s, 3m, 2h, 5d
export function ageOf(since: string, now: Date): string {
  const seconds = Math.max(0, Math.floor((now.getTime() - Date.parse(since)) / 1000))
  if (Number.isNaN(seconds)) return ''
  if (seconds < 120) return `${seconds}s`
  if (seconds < 7200) return `${Math.floor(seconds / 60)}m`
  return seconds < 172_800 ? `${Math.floor(seconds / 3600)}h` : `${Math.floor(seconds / 86_400)}d`
}
