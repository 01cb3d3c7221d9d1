// Runs a program to its end, in a process group of its own that ends when we do. It knows nothing of Terraform but that an
// interrupt (SIGINT) lets it end in good order, with its state written and its lock released.
import { type ChildProcess, spawn } from 'node:child_process'
import { type FileHandle, open, rm, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { isRecord } from '../api/record.ts'
import type { Clock } from '../runtime/clock.ts'
import { forgetGroup, noteGroup } from './leftrunning.ts'
import type { Ran } from './terraform.ts'

export interface Run {
  readonly program: string
  readonly args: readonly string[]
  readonly folder: string
  readonly env: Readonly<Record<string, string>> // all of it
  readonly beside: string // a private folder for what it prints
  readonly name: string // of what it prints: <name>.out, <name>.err
  readonly ends?: readonly number[] // codes that tell that it came to an end of its own: after any other, what it said stays
  readonly keep?: number // bytes of each that are given back; from the beginning and the end when there are more
  readonly timeoutMs: number
  readonly clock: Clock
  readonly stopping: AbortSignal
}

export const graceMs = 60_000 // between the interrupt and the kill
const usualKeep = 2 ** 20
const lookEveryMs = 5000
const roomOnDisk = 64 * 2 ** 20

// The program prints into files, not into pipes: when we are killed, a pipe breaks, and a broken pipe would kill it at its next
// word. The shell waits for it; beside it, a watcher waits for our end of descriptor 3 to close without a word.
// Ended after that, it says 9, and the shell kills what the program left behind: we cannot.
const watched = `
(
  read -r _ <&3 && exit
  trap 'exit 9' TERM
  kill -INT 0
  left=${graceMs / 1000}
  while [ $left -gt 0 ]; do sleep 1; left=$((left - 1)); done
  kill -KILL 0
) &
trap : INT
"$@" 3<&-
code=$?
{ kill $!; wait $!; } 2>&-
[ $? = 9 ] && kill -KILL 0
exit $code
`

export async function runCommand(run: Run): Promise<Ran> {
  if (run.stopping.aborted) return { code: 130, out: '', err: '', ended: 'stopped' }
  const [out, err] = [join(run.beside, `${run.name}.out`), join(run.beside, `${run.name}.err`)]
  await using outFile = await fresh(run, out)
  await using errFile = await fresh(run, err)
  const child = start(run, outFile, errFile)
  let isCutOff = false
  const trim = repeatedly(run.clock, async () => {
    for (const [file, path] of [
      [outFile, out],
      [errFile, err],
    ] as const) {
      if ((await file.stat()).size > roomOnDisk) await truncate(path, usualKeep / 2)
    }
  })
  try {
    const { code, ended } = await endOf(child, run)
    isCutOff = run.ends?.includes(code) === false
    const keep = run.keep ?? usualKeep
    const ran: Ran = { code, out: await textOf(outFile, keep), err: await textOf(errFile, keep), ended }
    if (ended === 'byItself' && (code === 126 || code === 127)) {
      isCutOff = false
      throw cannotRun(run, { code })
    }
    return ran
  } finally {
    trim.stop()
    await Promise.all([...(isCutOff ? [] : [out]), err].map(async (path) => rm(path, { force: true })))
    await forgetGroup(run.beside)
  }
}

// Appended to, so that it can be cut while it is written.
async function fresh(run: Run, path: string): Promise<FileHandle> {
  try {
    await rm(path, { force: true })
    return await open(path, 'ax+', 0o600)
  } catch (error) {
    throw cannotRun(run, error)
  }
}

function start(run: Run, out: FileHandle, err: FileHandle): ChildProcess {
  const { program, args, folder, env } = run
  try {
    return spawn('/bin/sh', ['-c', watched, 'sh', program, ...args], {
      cwd: folder,
      env,
      detached: true,
      stdio: ['ignore', out.fd, err.fd, 'pipe'],
    })
  } catch (error) {
    throw cannotRun(run, error)
  }
}

async function endOf(child: ChildProcess, run: Run): Promise<Pick<Ran, 'code' | 'ended'>> {
  const { clock, timeoutMs, stopping } = run
  let ended: Ran['ended'] = 'byItself'
  let callOffKill = () => {}
  const interrupt = (why: Ran['ended']) => {
    if (ended !== 'byItself') return
    ended = why
    signal(child, 'SIGINT')
    callOffKill = clock.wakeAt(clock.now() + graceMs, () => signal(child, 'SIGKILL'))
  }
  const stop = () => interrupt('stopped')
  stopping.addEventListener('abort', stop)
  if (stopping.aborted) stop()
  const callOffTimeout = clock.wakeAt(clock.now() + timeoutMs, () => interrupt('timeout'))
  const exit = new Promise<number>((resolve, reject) => {
    child.once('error', (error) => reject(cannotRun(run, error)))
    child.once('exit', (code) => resolve(code ?? 137))
  })
  try {
    if (child.pid !== undefined) await noteGroup(run.beside, child.pid).catch(() => {}) // a full disk must not end it
    return { code: await exit, ended }
  } finally {
    stopping.removeEventListener('abort', stop)
    callOffTimeout()
    callOffKill()
    child.stdio[3]?.destroy()
    signal(child, 'SIGKILL') // what it left behind: providers, and what provisioners put into the background
  }
}

function signal({ pid }: ChildProcess, name: NodeJS.Signals): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, name)
  } catch {
    // Nobody is left.
  }
}

function repeatedly(clock: Clock, look: () => Promise<void>) {
  let callOff = () => {}
  const next = () => {
    callOff = clock.wakeAt(clock.now() + lookEveryMs, () => {
      look().catch(() => {}) // a file that cannot be cut is only larger
      next()
    })
  }
  next()
  return { stop: () => callOff() }
}

async function textOf(file: FileHandle, keep: number): Promise<string> {
  const { size } = await file.stat()
  if (size <= keep) return partOf(file, 0, size)
  const half = Math.floor(keep / 2)
  const [head, tail] = [await partOf(file, 0, half), await partOf(file, size - half, half)]
  return `${head}\n[… ${size - 2 * half} bytes left out …]\n${tail}`
}

async function partOf(file: FileHandle, from: number, length: number): Promise<string> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, from)
  return buffer.toString('utf8', 0, bytesRead)
}

// 126 and 127 is what a shell says that cannot run a program.
const hints: Readonly<Record<string, string>> = {
  126: 'it may not be executed: correct its mode, or --terraform-binary',
  127: 'it is not there: install it, or correct --terraform-binary',
  ENOENT: 'the work folder or /bin/sh is not there',
  EACCES: 'it may not be executed, or the work folder not be entered',
  EAGAIN: 'there are too many processes: let fewer run at a time, or raise the limit',
  ENOMEM: 'there is not enough memory: let fewer run at a time, or raise the limit',
  ENOSPC: 'the disk with the work folders is full: give it more room',
  E2BIG: 'variables or environment are too long: give them by varFiles or varmap',
}

// Node's own message may hold arguments, and with them values.
function cannotRun({ program }: Run, error: unknown): Error {
  const code = isRecord(error) ? String(error['code']) : ''
  return new Error(`cannot run ${program}: ${hints[code] ?? 'the operating system refuses it'} (${code})`)
}
