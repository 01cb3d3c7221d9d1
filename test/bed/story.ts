// What a story on the shared bed starts with.
import { afterAll, beforeAll, inject } from 'vitest'
import { type Bed, onBed } from './bed.ts'
import { onWorkload, type StartedWorkload, startWorkload, type Workload, type WorkloadOptions } from './workload.ts'

export function theBed(): Bed {
  return onBed(inject('bed'))
}

// A workload cluster for the stories of a file: the one that all share, in which nobody counts on being alone; with options, one of their own.
// What is returned gives it, once they run.
export function aWorkload(options?: WorkloadOptions): () => Workload {
  if (!options) return () => onWorkload(inject('workload'))
  const started: StartedWorkload[] = []
  beforeAll(async () => void started.push(await startWorkload(options)))
  afterAll(async () => started[0]?.stop())
  return () => {
    if (!started[0]) throw new Error('the workload cluster is there when the stories of the file run')
    return started[0]
  }
}
