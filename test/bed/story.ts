// What a story on the shared bed starts with.
import { afterAll, beforeAll, inject } from 'vitest'
import { type Bed, onBed } from './bed.ts'
import { startWorkload, type Workload, type WorkloadOptions } from './workload.ts'

export function theBed(): Bed {
  return onBed(inject('bed'))
}

// A workload cluster for the stories of a file. What is returned gives it, once they run.
export function aWorkload(options: WorkloadOptions = {}): () => Workload {
  const started: Workload[] = []
  beforeAll(async () => void started.push(await startWorkload(options)))
  afterAll(async () => started[0]?.stop())
  return () => {
    if (!started[0]) throw new Error('the workload cluster is there when the stories of the file run')
    return started[0]
  }
}
