// What commands that show a bed to a person share: telling how to reach it, staying until Ctrl-C, failing in a sentence.
import type { Bed } from '../test/bed/bed.ts'

export function howToReach(bed: Bed): string {
  return [
    'In another terminal:',
    `  export KUBECONFIG=${bed.kubeconfig}`,
    `  export PATH=${bed.bin}:$PATH    # kubectl, clusterctl and the others of the same versions`,
  ].join('\n')
}

export async function untilInterrupted(): Promise<void> {
  const alive = setInterval(() => {}, 60_000)
  await new Promise((resolve) => {
    process.once('SIGINT', resolve)
    process.once('SIGTERM', resolve)
  })
  clearInterval(alive)
}

// A command that fails says why, without a stack, and ends with 1. Whatever it started goes with it.
export async function command(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    console.error(`\n${(error as Error).message}`)
    process.exit(1)
  }
}
