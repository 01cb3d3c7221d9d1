// capt state, as a process runs it: which API server, which files, who is asked, with which exit code.
import { randomUUID } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { hostname, userInfo } from 'node:os'
import { readKey } from '../api/resource.ts'
import { stateNamespace } from '../terraform/statesecret.ts'
import { type Whereabouts, withReach } from './access.ts'
import { agrees } from './agreement.ts'
import type { ExportOptions, RestoreOptions } from './commands.ts'
import { Complaint } from './complaint.ts'
import { exportState } from './stateexport.ts'
import { listStates } from './statelist.ts'
import { restoreState } from './staterestore.ts'

type Process = Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr' | 'env'>

const needed = `it takes get and list of Secrets in namespace ${stateNamespace}, and to restore, create and patch of Secrets and Leases there`

export async function runStateList(name: string, options: Whereabouts, process: Process): Promise<number> {
  return withReach({ options, process, needed }, async (reached) => {
    process.stdout.write(await listStates({ ...reached, name }))
    return 0
  })
}

export async function runStateExport(name: string, options: ExportOptions, process: Process): Promise<number> {
  return withReach({ options, process, needed }, async (reached) => {
    const { text, serial } = await exportState({ ...reached, name }, options.at)
    const file = options.output ?? `${name}-${serial}.tfstate`
    if (file === '-') process.stdout.write(text)
    else await writeNew(file, text)
    process.stderr.write(`${file === '-' ? 'this' : file} is serial ${serial} of the state. It holds secret values.\n`)
    return 0
  })
}

// Never over a file that is there: it may be the only copy of something.
async function writeNew(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    const isThere = error instanceof Error && 'code' in error && error.code === 'EEXIST'
    const why = isThere ? 'is there already: name another with --output' : `cannot be written: ${String(error)}`
    throw new Complaint(`${file} ${why}`, { cause: error })
  }
}

export async function runStateRestore(name: string, options: RestoreOptions, process: Process): Promise<number> {
  const { at, from, secret, force, yes } = options
  return withReach({ options, process, needed }, async (reached) => {
    if (at === undefined && from === undefined) {
      const list = `capt state list ${name} --namespace ${reached.namespace}`
      throw new Complaint(`what is to be restored? --at latest, --at COPY (see ${list}) or --from FILE`)
    }
    const which = from === undefined ? { at: at ?? '' } : { text: await readText(from), name: from }
    const isDone = await restoreState({
      ...reached,
      name,
      which,
      ...(secret !== undefined && { secret: readKey(secret) }),
      isForced: force === true,
      who: `${nameOfUser()}@${hostname()}`,
      id: randomUUID,
      now: () => new Date(),
      say: (line) => void process.stdout.write(`${line}\n`),
      agrees: async () => yes === true || agrees(process, 'Restore it?'),
    })
    return isDone ? 0 : 1
  })
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw new Complaint(`${file} cannot be read: ${String(error)}`, { cause: error })
  }
}

// A container may have a user without a name.
function nameOfUser(): string {
  try {
    return userInfo().username
  } catch {
    return 'somebody'
  }
}
