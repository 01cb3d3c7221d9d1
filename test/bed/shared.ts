// One bed and one workload cluster for a whole test run: started before the first story, stopped after the last, their logs kept if one failed.
import type { TestProject } from 'vitest/node'
import { type BedAddress, startBed } from './bed.ts'
import { heir } from './household.ts'
import { startWorkload, type WorkloadAddress } from './workload.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    readonly bed: BedAddress
    readonly workload: WorkloadAddress
    readonly untold: readonly string[] // stories that this run leaves out
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const bed = await startBed()
  process.env[heir] = bed.logs // the workers have it from here
  const workload = await startWorkload()
  const told = project.vitest.state.getPaths()
  const { testFiles } = await project.globTestFiles()
  // For every project: what comes last judges what the stories did.
  project.vitest.provide('bed', bed.address)
  project.vitest.provide('workload', workload.address)
  project.vitest.provide(
    'untold',
    testFiles.filter((file) => !told.includes(file)),
  )
  return async () => {
    if (project.vitest.state.getCountOfFailedTests() > 0) {
      console.error(`the logs of the bed's parts: ${await bed.keepLogs()}`)
    }
    await workload.stop()
    delete process.env[heir]
    await bed.stop()
  }
}
