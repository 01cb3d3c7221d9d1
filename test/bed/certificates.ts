// The bed's own certificate authority. Node makes keys but no certificates; node-forge makes both ends meet
// (docs/decisions/0003-certificates-by-node-forge.md).
import { generateKeyPair, generateKeyPairSync, randomBytes } from 'node:crypto'
import { isIP } from 'node:net'
import { promisify } from 'node:util'
import forge from 'node-forge'

export interface Certified {
  readonly cert: string // PEM
  readonly key: string // PEM
}

export interface Authority extends Certified {
  issueServer(name: string, hosts: readonly string[]): Promise<Certified>
  issueClient(user: string, groups?: readonly string[]): Promise<Certified>
}

const daysValid = 30

export async function anAuthority(name: string): Promise<Authority> {
  // A leaf of its authority's own name would pass for self-signed.
  const itself = subject(`${name} authority`)
  const root = await newCertificate(itself)
  root.certificate.setIssuer(itself)
  root.certificate.setExtensions([
    { name: 'basicConstraints', cA: true, critical: true },
    { name: 'keyUsage', keyCertSign: true, digitalSignature: true, critical: true },
    { name: 'subjectKeyIdentifier' },
  ])
  const issue = async (who: forge.pki.CertificateField[], extensions: object[]): Promise<Certified> => {
    const leaf = await newCertificate(who)
    leaf.certificate.setIssuer(itself)
    leaf.certificate.setExtensions([{ name: 'keyUsage', digitalSignature: true, critical: true }, ...extensions])
    return sign(leaf)
  }
  const sign = ({ certificate, key }: Draft): Certified => {
    certificate.sign(signingKey, forge.md.sha256.create())
    return { cert: forge.pki.certificateToPem(certificate), key }
  }
  const signingKey = forge.pki.privateKeyFromPem(root.key)
  return {
    ...sign(root),
    issueServer: async (server, hosts) =>
      issue(subject(server), [
        { name: 'extKeyUsage', serverAuth: true },
        {
          name: 'subjectAltName',
          altNames: hosts.map((host) => (isIP(host) ? { type: 7, ip: host } : { type: 2, value: host })),
        },
      ]),
    issueClient: async (user, groups = []) => issue(subject(user, groups), [{ name: 'extKeyUsage', clientAuth: true }]),
  }
}

// The pair that signs and checks service account tokens.
export function aTokenKey(): { readonly publicKey: string; readonly privateKey: string } {
  return generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'sec1', format: 'pem' },
  })
}

interface Draft {
  readonly certificate: forge.pki.Certificate
  readonly key: string
}

async function newCertificate(who: forge.pki.CertificateField[]): Promise<Draft> {
  const pair = await promisify(generateKeyPair)('rsa', {
    modulusLength: 2048, // forge signs with RSA only
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  })
  const certificate = forge.pki.createCertificate()
  certificate.publicKey = forge.pki.publicKeyFromPem(pair.publicKey)
  certificate.serialNumber = `01${randomBytes(8).toString('hex')}`
  const now = Date.now()
  certificate.validity.notBefore = new Date(now - 60_000)
  certificate.validity.notAfter = new Date(now + daysValid * 86_400_000)
  certificate.setSubject(who)
  return { certificate, key: pair.privateKey }
}

// In Kubernetes the common name of a client is its user, each organization a group.
function subject(commonName: string, organizations: readonly string[] = []): forge.pki.CertificateField[] {
  return [
    ...organizations.map((value) => ({ name: 'organizationName', value })),
    { name: 'commonName', value: commonName },
  ]
}
