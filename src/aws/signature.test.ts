// Held against the signer of AWS's SDK and against aws4fetch, over made-up requests.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type PlainCredentials,
  postSignedByAws4fetch,
  postSignedBySmithy,
  presignedByAws4fetch,
  presignedBySmithy,
} from '../../test/signatures.ts'
import { seal } from '../api/sealed.ts'
import { type Credentials, presign, signPost } from './signature.ts'

const printable = fc.string({ unit: 'binary-ascii', minLength: 1 }).map((text) => text.replace(/[^!-~]/g, 'x'))
const spaced = fc.tuple(printable, printable).map(([a, b]) => ` ${a}  ${b} `)
const credentials: fc.Arbitrary<PlainCredentials> = fc.record(
  { accessKeyId: fc.stringMatching(/^A[KS]IA[A-Z2-7]{16}$/), secretAccessKey: printable, sessionToken: printable },
  { requiredKeys: ['accessKeyId', 'secretAccessKey'] },
)
const moment = fc.date({ min: new Date('2001-01-01'), max: new Date('2099-12-31'), noInvalidDate: true })
const region = fc.constantFrom('ap-northeast-1', 'us-gov-west-1', 'cn-north-1', 'eusc-de-east-1', 'us-isob-east-1')
const host = fc.constantFrom('sts.example', 'sts.ap-northeast-1.amazonaws.com', '127.0.0.1:4566', '[::1]:80')
const path = fc.constantFrom('/', '/sts', '/a/b%20c', '/~tilde_(x)*')
const query = fc.dictionary(fc.stringMatching(/^[a-z][a-zA-Z.*_-]{0,6}$/), fc.string({ unit: 'binary' }), {
  maxKeys: 4,
})
const address = fc
  .tuple(host, path, query)
  .map(([where, at, asked]) => `https://${where}${at}?${new URLSearchParams(asked).toString()}`)
const header = fc.oneof(printable, spaced)

function sealed({ accessKeyId, secretAccessKey, sessionToken }: PlainCredentials): Credentials {
  return {
    accessKeyId,
    secretAccessKey: seal(secretAccessKey),
    ...(sessionToken !== undefined && { sessionToken: seal(sessionToken) }),
  }
}

test('a presigned URL is the one that others make', async () => {
  await fc.assert(
    fc.asyncProperty(address, header, region, credentials, moment, async (url, value, where, plain, now) => {
      const headers = { 'x-k8s-aws-id': value }
      const signing = { region: where, credentials: sealed(plain), now }
      const ours = new URL(presign({ url: new URL(url), headers, expiresSeconds: 60 }, signing))
      const asked = new URL(url)
      asked.searchParams.set('X-Amz-Expires', '60')
      const signed = { url: asked.href, headers, region: where, credentials: plain, now }
      const parameters = (found: URL) => Object.fromEntries(found.searchParams)
      expect(parameters(ours)).toEqual(parameters(await presignedBySmithy(signed)))
      expect(parameters(ours)).toEqual(parameters(await presignedByAws4fetch(signed)))
      expect(ours.pathname).toBe(asked.pathname)
    }),
  )
})

test('a signed POST is the one that others make', async () => {
  await fc.assert(
    fc.asyncProperty(
      address,
      fc.string({ unit: 'binary' }),
      region,
      credentials,
      moment,
      async (url, body, where, plain, now) => {
        const headers = { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' }
        const ours = signPost({ url: new URL(url), headers, body }, { region: where, credentials: sealed(plain), now })
        const signed = { url, headers, region: where, credentials: plain, now, body }
        expect(ours['authorization']).toBe(await postSignedBySmithy(signed))
        expect(ours['authorization']).toBe(await postSignedByAws4fetch(signed))
        expect(ours['x-amz-security-token']).toBe(plain.sessionToken)
        expect(ours['host']).toBe(new URL(url).host)
      },
    ),
  )
})
