// capt cleanup, as a process runs it: which API server, who is asked, with which exit code.
import { withReach } from './access.ts'
import { agrees } from './agreement.ts'
import { cleanUpMoved } from './cleanup.ts'
import type { CleanupOptions } from './commands.ts'

type Process = Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr' | 'env'>

const needed = 'it takes list, patch and delete of Workspaces, and get of WorkspaceTemplateApplies'

export async function runCleanUpMoved(options: CleanupOptions, process: Process): Promise<number> {
  return withReach({ options, process, needed }, async (reached) => {
    const isDone = await cleanUpMoved({
      ...reached,
      say: (line) => void process.stdout.write(`${line}\n`),
      agrees: async () => options.yes === true || agrees(process, 'Remove them?'),
    })
    return isDone ? 0 : 1
  })
}
