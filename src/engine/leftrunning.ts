// Whether an earlier life of ours left a program running in a work folder: it was told to end and may not have ended yet. Asked
// of Linux's /proc; where there is none, nothing is known to run.
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const note = (beside: string) => join(beside, 'running')

export async function noteGroup(beside: string, pid: number): Promise<void> {
  const since = await startOf(pid)
  if (since !== undefined) await writeFile(note(beside), `${pid} ${since}`, { mode: 0o600 })
}

export async function forgetGroup(beside: string): Promise<void> {
  await rm(note(beside), { force: true })
}

export async function isLeftRunning(beside: string): Promise<boolean> {
  const [pid, since] = (await textOf(note(beside)))?.split(' ') ?? []
  return since !== undefined && (await startOf(Number(pid))) === since
}

// A number is given to another process later, but never with the same time of start (field 22, after a name in brackets).
async function startOf(pid: number): Promise<string | undefined> {
  const stat = await textOf(`/proc/${pid}/stat`)
  const [state, ...rest] = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? []
  return state === 'Z' ? undefined : rest[18]
}

async function textOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch {
    return undefined
  }
}
