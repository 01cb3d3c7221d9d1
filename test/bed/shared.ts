// One bed for a whole test run: started before the first story, stopped after the last, its logs kept if one failed.
import type { TestProject } from 'vitest/node'
import { type BedAddress, startBed } from './bed.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    readonly bed: BedAddress
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const bed = await startBed()
  project.provide('bed', bed.address)
  return async () => {
    if (project.vitest.state.getCountOfFailedTests() > 0) {
      console.error(`the logs of the bed's parts: ${await bed.keepLogs()}`)
    }
    await bed.stop()
  }
}
