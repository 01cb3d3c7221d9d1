// Fetches an artifact of Flux, checks that it is the one that was meant, and unpacks it into a folder.
import { hash } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { InputsError } from './inputserror.ts'
import { type Entry, readTar } from './tar.ts'

const largest = 32 * 2 ** 20 // as it is sent
const largestUnpacked = 128 * 2 ** 20
const withinMs = 60_000

const trouble = 'cannot get Flux Artefact Terraform module'

export async function fetchArtifact(url: string, digest: string, into: string): Promise<void> {
  const packed = await download(url)
  if (`sha256:${hash('sha256', packed, 'hex')}` !== digest)
    throw new InputsError(`${trouble}: what ${url} gave has not the digest ${digest}: let Flux fetch it again`)
  for (const { path, content, mode } of await unpack(url, packed)) {
    const file = join(into, path)
    await mkdir(dirname(file), { recursive: true, mode: 0o700 })
    await writeFile(file, content, { mode, flag: 'wx' })
  }
}

async function download(url: string): Promise<Buffer> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(withinMs) })
    if (!answer.ok) throw new Error(`it answers ${answer.status}`)
    const chunks: Uint8Array[] = []
    let size = 0
    const body: AsyncIterable<Uint8Array> | null = answer.body
    for await (const chunk of body ?? []) {
      size += chunk.length
      if (size > largest) throw new Error(`it is larger than ${largest / 2 ** 20} MiB`)
      chunks.push(chunk)
    }
    return Buffer.concat(chunks)
  } catch (error) {
    throw new InputsError(`${trouble}: ${url}: ${tell(error)}`, { cause: error })
  }
}

async function unpack(url: string, packed: Buffer): Promise<readonly Entry[]> {
  try {
    return readTar(await promisify(gunzip)(packed, { maxOutputLength: largestUnpacked }))
  } catch (error) {
    throw new InputsError(`${trouble}: ${url} cannot be unpacked: ${tell(error)}`, { cause: error })
  }
}

// The reason of `fetch failed` is in its cause.
function tell(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? error.cause.message : error.message
}
