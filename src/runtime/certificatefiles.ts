// A serving certificate from files that somebody else renews (cert-manager, a mounted Secret). It writes none.
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { seal } from '../api/sealed.ts'
import type { Certificate } from './certificate.ts'
import type { Clock } from './clock.ts'
import { type Log, tellError } from './log.ts'

const everyMs = 10_000

export interface CertificateFiles {
  readonly first: Certificate
  stop(): void
}

// Throws when there is no whole pair to begin with. Later a pair that is not whole (files are replaced one after the
// other) leaves the one before in use, and is told once.
export function startCertificateFiles(
  folder: string,
  { clock, log, renewed }: { readonly clock: Clock; readonly log: Log; readonly renewed: (pair: Certificate) => void },
): CertificateFiles {
  const first = readPair(folder)
  let current = first
  let trouble = ''
  let callOff = wait()

  function wait(): () => void {
    return clock.wakeAt(clock.now() + everyMs, () => {
      look()
      callOff = wait()
    })
  }

  // Reads them rather than asking when they changed: they are small, and a renewal may keep the time.
  function look(): void {
    try {
      const now = readPair(folder)
      if (now.certificate !== current.certificate || now.key.open() !== current.key.open()) {
        renewed(now)
        current = now
        log.info('the serving certificate was renewed', { folder })
      }
      trouble = ''
    } catch (error) {
      const sentence = tellError(error)
      if (sentence !== trouble) log.warn('the serving certificate cannot be renewed', { folder, why: sentence })
      trouble = sentence
    }
  }

  return { first, stop: () => callOff() }
}

function readPair(folder: string): Certificate {
  const [certificate, key] = [join(folder, 'tls.crt'), join(folder, 'tls.key')].map((file) =>
    readFileSync(file, 'utf8'),
  )
  if (!certificate || !key) throw new Error(`tls.crt or tls.key in ${folder} is empty`)
  if (!new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key)))
    throw new Error(`tls.key in ${folder} is not the key of tls.crt`)
  return { certificate, key: seal(key) }
}
