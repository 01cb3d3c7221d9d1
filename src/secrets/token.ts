// Until when a bearer token is good, as far as it says so itself; and when to have the next one. Pure.
import { hash } from 'node:crypto'
import { isRecord, readJson } from '../api/record.ts'

export interface Span {
  readonly from: Date
  readonly until: Date
}

// Undefined: it does not say.
export function endOf(token: string): Date | undefined {
  return token.startsWith(awsPrefix) ? endOfAws(token.slice(awsPrefix.length)) : endOfJwt(token)
}

const awsPrefix = 'k8s-aws-v1.'
const awsMs = 14 * 60_000 // it is taken for 15 minutes, by clocks that differ

// A request to AWS, signed at a moment.
function endOfAws(encoded: string): Date | undefined {
  const url = URL.parse(Buffer.from(encoded, 'base64url').toString('utf8'))
  const [, day, time] = /^(\d{8})T(\d{6})Z$/.exec(url?.searchParams.get('X-Amz-Date') ?? '') ?? []
  if (!day || !time) return undefined
  const signed = Date.parse(`${day.replace(/^(....)(..)/, '$1-$2-')}T${time.replace(/^(..)(..)/, '$1:$2:')}Z`)
  return moment(signed + awsMs)
}

function endOfJwt(token: string): Date | undefined {
  const [, body] = token.split('.')
  const claims = body === undefined ? undefined : readJson(Buffer.from(body, 'base64url').toString('utf8'))
  return isRecord(claims) && typeof claims['exp'] === 'number' ? moment(claims['exp'] * 1000) : undefined
}

// There are numbers that no calendar has.
function moment(ms: number): Date | undefined {
  const date = new Date(ms)
  return Number.isNaN(date.getTime()) ? undefined : date
}

const longMs = 3_600_000

// Early enough for many tries before it ends, and not at the same moment for every cluster: whose it is decides. What lives long
// is renewed at up to 80 % of its life, what lives short at up to 65 %.
export function renewalOf({ from, until }: Span, whose: string): Date {
  const life = until.getTime() - from.getTime()
  const [latest, spread] = life > longMs ? [0.8, 0.05] : [0.65, 0.15]
  const share = Number.parseInt(hash('sha256', whose, 'hex').slice(0, 8), 16) / 0xffffffff
  return new Date(from.getTime() + life * (latest - spread * share))
}
