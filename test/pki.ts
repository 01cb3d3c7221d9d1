// Certificates and tokens for tests that only read them.
import { X509Certificate } from 'node:crypto'
import { selfSigned } from '../src/runtime/certificate.ts'

const now = new Date('2026-11-16T12:00:00Z')
const plain = (pem: string) => new X509Certificate(pem).toString() // as Node writes it, ending with a new line

export const [aCA, anotherCA] = ['one', 'other'].map((name) => plain(selfSigned([name], now).certificate)) as [
  string,
  string,
]

const client = selfSigned(['client'], now)
export const aClientCertificate = { certificate: plain(client.certificate), key: client.key }

export const base64 = (text: string) => Buffer.from(text).toString('base64')

// As an API server signs one, but for the signature.
export function aJwt(claims: object): string {
  return ['{"alg":"RS256"}', JSON.stringify(claims), 'signature']
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.')
}

// As `aws eks get-token` prints one.
export function anAwsToken(signed: Date, date = signed.toISOString().replaceAll(/[-:]|\.\d+/g, '')): string {
  const url = `https://sts.ap-northeast-1.amazonaws.com/?Action=GetCallerIdentity&X-Amz-Date=${date}&X-Amz-Expires=60&X-Amz-Signature=ab`
  return `k8s-aws-v1.${Buffer.from(url).toString('base64url')}`
}
