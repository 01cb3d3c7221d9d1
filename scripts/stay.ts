// Keeps a bed up for a person, and tells how to poke at it.
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
