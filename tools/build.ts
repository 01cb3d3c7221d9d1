// Finds the real parts and builds those that are missing.
import { isWhole, type Place, placeOf, putWhole, sweepDrafts, turnFile } from './cache.ts'
import { make } from './make.ts'
import type { Part } from './parts.ts'
import { clock, type Progress } from './progress.ts'
import { readyProgram } from './ready.ts'
import { takeTurn } from './turn.ts'

export interface Workshop {
  readonly modules: string // the folder of Go tool modules
  readonly cache: string
  readonly ready: string | undefined // the folder of ready programs, if a person has one
}

export interface Voice {
  readonly say: (line: string) => void // something happened
  readonly show: (progress: Progress) => void // where we are
}

export type Located<Name extends string> = Readonly<Record<Name, string>>
type Parts<Name extends string> = Readonly<Record<Name, Part>>

// The paths of all parts. Throws a sentence when one is not there: this never builds.
export async function locate<Name extends string>(parts: Parts<Name>, workshop: Workshop): Promise<Located<Name>> {
  const { found, missing } = await survey(parts, workshop)
  const names = missing.map(({ name }) => name)
  if (names.length > 0) throw new Error(`not built yet: ${names.join(', ')}. Run \`make parts\``)
  return found as Located<Name>
}

// The paths of all parts, the missing ones built in the order of the list.
export async function build<Name extends string>(
  parts: Parts<Name>,
  workshop: Workshop,
  voice: Voice,
): Promise<Located<Name>> {
  await sweepDrafts(workshop.cache)
  const { found, missing } = await survey(parts, workshop)
  const began = Date.now()
  const elapsedSeconds = () => (Date.now() - began) / 1000
  const allSeconds = missing.reduce((sum, { name }) => sum + parts[name].coldSeconds, 0)
  let doneSeconds = 0
  for (const [index, place] of missing.entries()) {
    const part = parts[place.name]
    const startedAt = elapsedSeconds()
    const pace = { compiled: 0, packages: 0 }
    const show = () =>
      voice.show({
        name: `${place.name} ${place.version}`,
        step: index + 1,
        steps: missing.length,
        ...pace,
        doneSeconds: doneSeconds + (pace.packages > 0 ? (part.coldSeconds * pace.compiled) / pace.packages : 0),
        allSeconds,
        elapsedSeconds: elapsedSeconds(),
      })
    show()
    const ticking = setInterval(show, 1000) // a link takes long and says nothing
    try {
      const onProgress = (compiled: number, packages: number) => void Object.assign(pace, { compiled, packages })
      const done = await buildOne(place, part, workshop, found['kubectl' as Name], onProgress, voice)
      voice.say(`${place.name} ${place.version} ${done} in ${clock(elapsedSeconds() - startedAt)}`)
    } finally {
      clearInterval(ticking)
    }
    found[place.name] = place.file
    doneSeconds += part.coldSeconds
  }
  return found as Located<Name>
}

async function buildOne(
  place: Place,
  part: Part,
  workshop: Workshop,
  kubectl: string | undefined,
  onProgress: (done: number, of: number) => void,
  voice: Voice,
): Promise<'built' | 'built by another run'> {
  const turn = await takeTurn(
    turnFile(place),
    () => isWhole(place),
    (holder) => voice.say(`another run (pid ${holder}) is building ${place.name}: waiting for it`),
  )
  if (!turn) return 'built by another run'
  try {
    // The turn may have come just after another run finished.
    if (isWhole(place)) return 'built by another run'
    await putWhole(place, async (file) =>
      make({ part, version: place.version, modules: workshop.modules, kubectl, onProgress }, file),
    )
    return 'built'
  } catch (error) {
    throw new Error(`cannot build ${place.name} ${place.version}: ${(error as Error).message}`, { cause: error })
  } finally {
    await turn()
  }
}

async function survey<Name extends string>(parts: Parts<Name>, { modules, cache, ready }: Workshop) {
  const found: Partial<Record<Name, string>> = {}
  const missing: (Place & { readonly name: Name })[] = []
  const entries = Object.entries(parts) as [Name, Part][]
  const readyFiles = await Promise.all(
    entries.map(async ([name, part]) => {
      const { version } = placeOf(name, part, modules, cache)
      return ready ? readyProgram(name, part, version, ready) : undefined
    }),
  )
  for (const [index, [name, part]] of entries.entries()) {
    const place = { ...placeOf(name, part, modules, cache), name }
    const file = readyFiles[index] ?? (isWhole(place) ? place.file : undefined)
    if (file) found[name] = file
    else missing.push(place)
  }
  return { found, missing }
}
