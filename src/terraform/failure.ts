// Reads what an engine says when Terraform failed: what went wrong in one line, of which class it is, and what to do. Pure.
import { stripVTControlCharacters } from 'node:util'
import { constants, gunzipSync } from 'node:zlib'
import { shortened } from '../api/text.ts'
import { diagnosed, type FailureClass, lockIn } from './diagnosis.ts'
import { interruptions } from './failureform.ts'
import { scrub } from './scrub.ts'

export interface Failure {
  readonly step: Step | undefined
  readonly summary: string // one line of at most 400 characters; the same for the same failure, however often it happens
  readonly class: FailureClass
  readonly hint: string // what to do
  readonly lock?: string // the id of the lock that is in the way
  readonly text: string // all of it, at most 64 KiB
}

const steps = ['connect', 'observe', 'create', 'update', 'delete'] as const
type Step = (typeof steps)[number]

const summaryLength = 400
const textLength = 65_536
const unpackedLength = 2 ** 18 // a message may hold a thousand times its length

// The message of `Synced=False`. `secrets` are values that must not be seen, beside what looks like a secret.
export function readFailure(message: string, secrets: readonly string[] = []): Failure {
  const step = steps.find((each) => message.startsWith(`${each} failed: `))
  const told = step ? message.slice(`${step} failed: `.length) : message
  const printed = printedIn(told)
  const said = scrub(saidIn(told), secrets)
  const text = printed === undefined ? said : scrub(printed, secrets)
  const [first, ...others] = isInterrupted(said) ? [] : errorsIn(text)
  const error = first ?? { title: oneLine(said), where: '', detail: '' }
  return { step, summary: summaryOf(error, others.length), ...diagnosed(error), text: shortened(text, textLength) }
}

function isInterrupted(said: string): boolean {
  return Object.values(interruptions).some((each) => said.startsWith(each))
}

const blob = /\s*To see the full error run: echo "?(?<blob>[A-Za-z0-9+/=]*)"?(?: \| base64 -d \| gunzip)?/

// What Terraform printed, which engines pack into the message.
function printedIn(message: string): string | undefined {
  const packed = Buffer.from(blob.exec(message)?.groups?.['blob'] ?? '', 'base64')
  const text = unpacked(packed, constants.Z_FINISH) ?? begunIn(packed)
  return text && plain(text)
}

// Of a blob that was cut off, is broken or holds too much, what it begins with, in whole lines: half a secret would not be known
// for one.
function begunIn(packed: Buffer): string | undefined {
  for (let size = packed.length; size > 0; size >>= 1) {
    const text = unpacked(packed.subarray(0, size), constants.Z_SYNC_FLUSH)
    if (text) return text.slice(0, text.lastIndexOf('\n') + 1)
  }
  return undefined
}

function unpacked(packed: Buffer, finishFlush: number): string | undefined {
  try {
    return gunzipSync(packed, { maxOutputLength: unpackedLength, finishFlush }).toString('utf8')
  } catch {
    return undefined
  }
}

// What the engine itself says of it.
function saidIn(message: string): string {
  const rest = message.replace(blob, '')
  const summary = /Terraform encountered an error\. Summary: (?<summary>[^]*?)\.?$/.exec(rest)?.groups?.['summary']
  return plain((summary ?? rest).slice(0, unpackedLength))
}

// Without colours, and without the frame that errors have on a terminal.
function plain(text: string): string {
  return stripVTControlCharacters(text).replace(/^[╷╵│] ?/gm, '')
}

interface TerraformError {
  readonly title: string
  readonly where: string // what and in which line, as far as it is said
  readonly detail: string // as it is laid out
}

// Each begins with `Error: ` on a new line. Behind its title are where it is, the lines of the source, and what is to say.
function errorsIn(text: string): readonly TerraformError[] {
  const blocks = text.split(/^(?=(?:Error|Warning): )/m).filter((block) => block.startsWith('Error: '))
  return blocks.map((block) => {
    const [title = '', ...paragraphs] = block.slice('Error: '.length).split(/\n[ \t]*\n/)
    const isPlace = (paragraph: string) => /^ {2}(?:with|on) /.test(paragraph)
    const place = paragraphs.find(isPlace) ?? ''
    const address = /^ {2}with (?<address>.+),$/m.exec(place)?.groups?.['address']
    const line = /^ {2}on (?<line>.+? line \d+)/m.exec(place)?.groups?.['line']
    return {
      title: oneLine(title),
      where: [address, line].filter((each) => each !== undefined).join(', '),
      detail: paragraphs
        .filter((each) => !isPlace(each))
        .join('\n\n')
        .trim(),
    }
  })
}

function summaryOf(error: TerraformError, others: number): string {
  const { title, where } = error
  const detail = oneLine(heldBy(error.detail) ?? error.detail)
  const more = others > 0 ? ` (and ${others} more)` : ''
  const line = oneLine(steady([where ? `${title} (${where})` : title, detail].filter(Boolean).join(': ')))
  return shortened(line || 'nothing was said of why', summaryLength - more.length) + more
}

// Who holds a lock, of what Terraform lists.
function heldBy(detail: string): string | undefined {
  const id = lockIn(detail)
  if (id === undefined) return undefined
  const field = (name: string) => new RegExp(`^ *${name}: +(.+)$`, 'm').exec(detail)?.[1]?.trim() || 'unknown'
  return `held by ${field('Who')} since ${field('Created')} for ${field('Operation')}, lock ID ${id}`
}

// Without what is another one each time it is tried.
function steady(line: string): string {
  return line
    .replace(/,? ?https response error StatusCode: \d+,/gi, ',')
    .replace(/,? ?(?:status code: \d+, )?request ?id: [\w-]*(?=,|:|\s|$)/gi, '')
    .replace(/ Encoded authorization failure message: [\w-]+/g, '')
    .replace(/,{2,}/g, ',')
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
