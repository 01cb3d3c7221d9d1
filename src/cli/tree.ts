// capt tree: the whole chain of a cluster as a tree, with the one reason worth reading; once, or as it goes on.
import { Cluster } from '../api/neighbours.ts'
import { keyOf, tellKey } from '../api/resource.ts'
import { listed } from '../api/text.ts'
import type { Client } from '../kube/client.ts'
import type { Clock } from '../runtime/clock.ts'
import { changesBetween } from '../view/change.ts'
import { type Picture, pictureOf } from '../view/picture.ts'
import { wrapped } from './columns.ts'
import { Complaint, complaintAbout } from './complaint.ts'
import { type Drawing, draw, type Paper } from './draw.ts'
import { type Following, follow } from './follow.ts'
import { createScreen, fitting, type Screen } from './screen.ts'

export interface Looking {
  readonly client: Pick<Client, 'list' | 'watch' | 'ready' | 'served' | 'versions'>
  readonly server: string
  readonly namespace: string
  readonly name: string
  readonly clock: Clock
  readonly now: () => Date
  readonly out: Output
}

export interface Output extends Omit<Paper, 'width'> {
  write(text: string): void
  // Of a terminal, as it is now; undefined: it is none.
  size(): { readonly columns: number; readonly rows: number } | undefined
  onResize(call: () => void): () => void // returns what calls it off
}

export interface Watching extends Looking {
  readonly until?: 'available' // ends by itself then
  readonly signal: AbortSignal // ends it
}

export type Ending = 'available' | 'gone' | 'interrupted'

// Shows it once. Throws a Complaint when there is nothing to show.
export async function showTree(looking: Looking): Promise<Picture> {
  const following = follow({ ...looking, onChange() {}, onAway() {} })
  try {
    const picture = await firstLook(following, looking)
    const { tree, reason } = drawn(picture, looking)
    looking.out.write(`${[...tree, '', ...reason].join('\n')}\n`)
    return picture
  } finally {
    following.stop()
  }
}

// Shows it until it is interrupted, has come to what is waited for, or is gone. On a terminal it is drawn again in its place;
// elsewhere there is a line for each change.
export async function watchTree(watching: Watching): Promise<Ending> {
  const { out, clock, until, signal, client } = watching
  const ended = Promise.withResolvers<Ending>()
  const teller = out.size() ? onTerminal(watching) : inLines(watching)
  let away: Complaint | undefined
  let last: Picture | undefined
  let isEnded = false
  let callOffAsking = () => {}
  let isBegun = false // a Cluster that never was is not gone

  function look(): void {
    if (!isBegun) return
    const picture = pictureOf(following.situation(), watching.now())
    if (!picture) return ended.resolve('gone')
    last = picture
    teller.show(picture, away)
    if (until === 'available' && picture.isAvailable) ended.resolve('available')
  }

  // Whoever does not answer is asked whether it is there again; it may have nothing new to tell then.
  function lost(complaint: Complaint): void {
    if (away) return
    away = complaint
    if (last) teller.show(last, away)
    const askLater = () => {
      callOffAsking = clock.wakeAt(clock.now() + askAgainMs, () => void ask())
    }
    const ask = async () => {
      if (!(await client.ready())) return isEnded || askLater()
      away = undefined
      if (last) teller.show(last, away)
    }
    askLater()
  }

  const following = follow({ ...watching, onChange: look, onAway: lost })
  const interrupt = () => ended.resolve('interrupted')
  signal.addEventListener('abort', interrupt)
  // Ages grow, and tokens expire, though nothing changes.
  const tick = () => {
    const picture = last && pictureOf(following.situation(), watching.now())
    if (picture) teller.tick(picture, away)
  }
  const callOff = [out.onResize(() => last && teller.show(last, away)), everySecond(clock, tick)]
  try {
    const first = await Promise.race([firstLook(following, watching), ended.promise])
    isBegun = typeof first !== 'string'
    look()
    return await ended.promise
  } finally {
    isEnded = true
    callOffAsking()
    signal.removeEventListener('abort', interrupt)
    for (const each of callOff) each()
    following.stop()
    teller.close()
  }
}

const askAgainMs = 2000

async function firstLook(following: Following, looking: Looking): Promise<Picture> {
  await following.whenKnown()
  const picture = pictureOf(following.situation(), looking.now())
  if (!picture) throw await nowhere(looking)
  return picture
}

function drawn(picture: Picture, { out, now }: Looking): Drawing {
  const size = out.size()
  return draw(picture, { ...out, ...(size && { width: size.columns }) }, now())
}

interface Teller {
  show(picture: Picture, away: Complaint | undefined): void
  tick(picture: Picture, away: Complaint | undefined): void // a second has passed
  close(): void
}

function onTerminal(watching: Watching): Teller {
  const { out } = watching
  const size = () => out.size() ?? { columns: 80, rows: 24 }
  let screen: Screen | undefined
  let shown = ''
  const linesOf = (picture: Picture, away: Complaint | undefined) => {
    const { tree, reason } = drawn(picture, watching)
    const old = away ? wrapped(`This may be old: ${away.message}`, size().columns) : []
    return fitting(tree, ['', ...reason, ...old], size().rows)
  }
  const show = (lines: readonly string[]) => {
    shown = lines.join('\n')
    screen ??= createScreen({ write: out.write, size })
    screen.show(lines)
  }
  return {
    show: (picture, away) => show(linesOf(picture, away)),
    tick(picture, away) {
      const lines = linesOf(picture, away)
      if (lines.join('\n') !== shown) show(lines)
    },
    close: () => screen?.close(),
  }
}

function inLines(watching: Watching): Teller {
  const { out, clock } = watching
  const began = clock.now()
  const say = (line: string) => out.write(`+${Math.round((clock.now() - began) / 1000)}s ${line}\n`)
  let before: Picture | undefined
  let told: string | undefined
  const show: Teller['show'] = (picture, away) => {
    if (away?.message !== told) say(away?.message ?? 'the API server answers again')
    told = away?.message
    for (const line of changesBetween(before, picture)) say(line)
    if (picture.isAvailable && !before?.isAvailable) for (const line of drawn(picture, watching).reason) say(line)
    before = picture
  }
  return { show, tick: show, close() {} }
}

function everySecond(clock: Clock, call: () => void): () => void {
  let callOff = () => {}
  const next = () => {
    callOff = clock.wakeAt(clock.now() + 1000, () => {
      call()
      next()
    })
  }
  next()
  return () => callOff()
}

// Says which Clusters there are instead, as far as one may see them.
async function nowhere({ client, server, namespace, name }: Looking): Promise<Complaint> {
  const there = await client
    .list(Cluster, { limit: 500 })
    .catch(async () => client.list(Cluster, { namespace, limit: 500 }))
    .catch((error: unknown) => complaintAbout(error, { resource: Cluster, namespace, server }))
  if (there instanceof Complaint) return there
  const keys = there.items.map((each) => tellKey(keyOf(each))).toSorted()
  const same = keys.filter((key) => key.endsWith(`/${name}`))
  const others = same.length > 0 ? same : keys
  const instead = others.length > 0 ? `there is ${listed(others)} (namespace/name)` : 'there is none at all'
  const how = same.length > 0 ? ': pass --namespace' : ''
  return new Complaint(`there is no Cluster ${name} in namespace ${namespace}; ${instead}${how}.`)
}
