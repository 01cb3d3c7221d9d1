// Certificates of a CA, as templates hand them over: as PEM, or that in base64 as EKS has it. Pure.
import { X509Certificate } from 'node:crypto'

// As PEM. Undefined: it is no certificate.
export function readCertificates(text: string): string | undefined {
  const pem = text.includes('-----BEGIN') ? text : Buffer.from(text, 'base64').toString('utf8')
  const each = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g)
  return each?.every(isCertificate) ? `${each.join('\n')}\n` : undefined
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0
  } catch {
    return false
  }
}
