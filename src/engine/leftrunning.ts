// Whether an earlier life of ours left a program running in a work folder: it was told to end and may not have ended yet.
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isAlive, processOf } from './life.ts'

const note = (beside: string) => join(beside, 'running')

export async function noteGroup(beside: string, pid: number): Promise<void> {
  const found = await processOf(pid)
  if (found) await writeFile(note(beside), `${found.pid} ${found.startTime}`, { mode: 0o600 })
}

export async function forgetGroup(beside: string): Promise<void> {
  await rm(note(beside), { force: true })
}

export async function isLeftRunning(beside: string): Promise<boolean> {
  const [pid, startTime] = (await readFile(note(beside), 'utf8').catch(() => '')).split(' ')
  return startTime !== undefined && (await isAlive({ pid: Number(pid), startTime }))
}
