// How far the building is, as a person wants to read it. Pure: the clock is passed in as elapsed seconds.

export interface Progress {
  readonly name: string // the part being built
  readonly step: number // which of the parts to build, from 1
  readonly steps: number
  readonly compiled: number
  readonly packages: number // 0 until known
  readonly doneSeconds: number // what is behind us, in seconds of the estimate
  readonly allSeconds: number
  readonly elapsedSeconds: number
}

export function tell(progress: Progress): string {
  const { name, step, steps, compiled, packages, elapsedSeconds } = progress
  const phase = packages > 0 ? `${compiled} of ${packages} packages` : 'fetching modules'
  return `building ${name} (${step} of ${steps}, ${phase}), ${clock(elapsedSeconds)} elapsed, ${remaining(progress)}`
}

// The table's speed counts for a minute of experience, so that the first seconds do not swing the estimate.
export function secondsLeft({ doneSeconds, allSeconds, elapsedSeconds }: Progress): number {
  const trust = 60
  const slowness = (elapsedSeconds + trust) / (doneSeconds + trust)
  return Math.max(0, allSeconds - doneSeconds) * slowness
}

function remaining(progress: Progress): string {
  const minutes = Math.round(secondsLeft(progress) / 60)
  return minutes < 1 ? 'less than a minute left' : `about ${minutes} min left`
}

export function clock(seconds: number): string {
  const whole = Math.floor(seconds)
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`
}
