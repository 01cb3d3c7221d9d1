// One run builds a part at a time, others wait for it. This saves work and nothing more: were two to build the same
// part, each would finish its own draft and the second would find the place filled (cache.ts).
import { mkdir, open, readFile, rm, stat, utimes } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isAlive } from './cache.ts'

const heartbeatSeconds = 2
const lostAfterSeconds = 20 // a holder that has not beaten for so long is gone, whatever now bears its pid

// Resolves with the function that gives the turn back, or with undefined when `isOver` became true while waiting.
export async function takeTurn(
  file: string,
  isOver: () => boolean,
  onWait: (holder: number) => void,
): Promise<(() => Promise<void>) | undefined> {
  await mkdir(dirname(file), { recursive: true })
  let told = false
  while (!isOver()) {
    const mine = await claim(file)
    if (mine) return mine
    const holder = await holderOf(file)
    if (holder === undefined) {
      await rm(file, { force: true })
      continue
    }
    if (!told && holder > 0) {
      onWait(holder)
      told = true
    }
    await sleep(200)
  }
  return undefined
}

async function claim(file: string): Promise<(() => Promise<void>) | undefined> {
  const handle = await open(file, 'wx').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') return undefined
    throw error
  })
  if (!handle) return undefined
  await handle.writeFile(String(process.pid))
  await handle.close()
  const heart = setInterval(() => {
    const now = new Date()
    utimes(file, now, now).catch(() => clearInterval(heart))
  }, heartbeatSeconds * 1000)
  heart.unref()
  return async () => {
    clearInterval(heart)
    await rm(file, { force: true })
  }
}

async function holderOf(file: string): Promise<number | undefined> {
  try {
    const pid = Number(await readFile(file, 'utf8'))
    const age = (Date.now() - (await stat(file)).mtimeMs) / 1000
    if (age > lostAfterSeconds) return undefined
    // A pid of 0 is a claim not yet written; it is young, so wait for it.
    return pid === 0 || isAlive(pid) ? pid : undefined
  } catch {
    return undefined
  }
}
