import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type EksCluster, whyRefused } from '../../test/eks-authenticator.ts'
import { presignedByAws4fetch } from '../../test/signatures.ts'
import { seal } from '../api/sealed.ts'
import { stsHost } from './partition.ts'
import { eksToken, type TokenWish } from './token.ts'

const now = new Date('2026-11-16T12:00:00.789Z')
const plain = { accessKeyId: 'ASIAEXAMPLE', secretAccessKey: 'hush', sessionToken: 'tok+en/=' }
const credentials = { accessKeyId: plain.accessKeyId, secretAccessKey: seal('hush'), sessionToken: seal('tok+en/=') }
const wish: TokenWish = { clusterName: 'demo', region: 'ap-northeast-1', credentials, now }
const cluster: EksCluster = { clusterName: 'demo', credentials: plain, now: () => now.getTime() }
const minutes = (count: number) => new Date(now.getTime() + count * 60_000)
const made = (change: Partial<TokenWish> = {}) => eksToken({ ...wish, ...change }).token.open()
const inside = (token: string) => new URL(Buffer.from(token.slice('k8s-aws-v1.'.length), 'base64url').toString())

// As they stand in partitions.json of AWS's SDKs.
test.each([
  ['us-east-1', 'sts.us-east-1.amazonaws.com'],
  ['ap-southeast-7', 'sts.ap-southeast-7.amazonaws.com'],
  ['us-gov-west-1', 'sts.us-gov-west-1.amazonaws.com'],
  ['cn-northwest-1', 'sts.cn-northwest-1.amazonaws.com.cn'],
  ['eusc-de-east-1', 'sts.eusc-de-east-1.amazonaws.eu'],
  ['us-iso-east-1', 'sts.us-iso-east-1.c2s.ic.gov'],
  ['us-isob-east-1', 'sts.us-isob-east-1.sc2s.sgov.gov'],
  ['eu-isoe-west-1', 'sts.eu-isoe-west-1.cloud.adc-e.uk'],
  ['us-isof-south-1', 'sts.us-isof-south-1.csp.hci.ic.gov'],
])('in %s STS is %s, and the token asks there', (region, host) => {
  expect(stsHost(region)).toBe(host)
  expect(inside(made({ region })).host).toBe(host)
})

test.each(['', 'evil.example/', 'us-east-1.evil', 'us-east-1#', 'US-EAST-1', '-', 'a@b'])(
  '%j is no region to call',
  (region) => {
    expect(() => stsHost(region)).toThrow(/^cannot find STS: ".*" is no region: write one such as ap-northeast-1$/)
  },
)

test('a token is what aws-iam-authenticator takes, and its signature the one that others make', async () => {
  const name = fc.stringMatching(/^[0-9A-Za-z][A-Za-z0-9_-]{0,99}$/)
  const region = fc.constantFrom('us-east-1', 'ap-northeast-1', 'eu-central-2', 'us-gov-east-1')
  const session = fc.base64String({ maxLength: 1200 }) // empty: none
  const moment = fc.date({ min: new Date('2001-01-01'), max: new Date('2099-12-31'), noInvalidDate: true })
  await fc.assert(
    fc.asyncProperty(name, region, session, moment, async (clusterName, where, sessionToken, at) => {
      const keys = { accessKeyId: plain.accessKeyId, secretAccessKey: plain.secretAccessKey }
      const who = { ...keys, ...(sessionToken && { sessionToken }) }
      const token = made({
        clusterName,
        region: where,
        credentials: {
          ...keys,
          secretAccessKey: seal(keys.secretAccessKey),
          ...(sessionToken && { sessionToken: seal(sessionToken) }),
        },
        now: at,
      })
      expect(await whyRefused(token, { clusterName, credentials: who, now: () => at.getTime() })).toBeUndefined()
      const url = `https://${stsHost(where)}/?Action=GetCallerIdentity&Version=2011-06-15&X-Amz-Expires=60`
      const headers = { 'x-k8s-aws-id': clusterName }
      const other = await presignedByAws4fetch({ url, headers, region: where, credentials: who, now: at })
      expect(Object.fromEntries(inside(token).searchParams)).toEqual(Object.fromEntries(other.searchParams))
    }),
  )
})

test.each<[string, number | undefined, Date]>([
  ['for 14 minutes', undefined, minutes(14)],
  ['for 14 minutes of a longer session', 60, minutes(14)],
  ['until the session ends, when that is sooner', 6, minutes(6)],
])('it lasts %s', (_, sessionMinutes, expires) => {
  const session = sessionMinutes === undefined ? {} : { expires: minutes(sessionMinutes) }
  expect(eksToken({ ...wish, credentials: { ...credentials, ...session } }).expires).toEqual(expires)
})

test('one that no cluster would take for its length is not made', () => {
  const long = { ...credentials, sessionToken: seal('x'.repeat(3000)) }
  expect(() => made({ credentials: long })).toThrow(
    /^cannot sign a token for the EKS cluster demo: it has \d+ characters, and EKS takes 4096: use a role/,
  )
})

test('it stays sealed', () => {
  expect(JSON.stringify(eksToken(wish))).toContain('"token":"***"')
})

// The stand-in of the authenticator is worth as much as what it refuses.
describe('the authenticator refuses', () => {
  const changed = (change: (url: URL) => void) => {
    const url = inside(made())
    change(url)
    return `k8s-aws-v1.${Buffer.from(url.href).toString('base64url')}`
  }
  test.each<[string, string, string]>([
    [
      'another cluster',
      made({ clusterName: 'other' }),
      'X-Amz-Signature is not what this identity signs for this cluster',
    ],
    [
      'another key',
      made({ credentials: { ...credentials, secretAccessKey: seal('other') } }),
      'X-Amz-Signature is not what this identity signs for this cluster',
    ],
    [
      'another identity',
      made({ credentials: { ...credentials, accessKeyId: 'ASIAOTHER' } }),
      'X-Amz-Credential is not what this identity signs for this cluster',
    ],
    [
      'no session',
      made({ credentials: { accessKeyId: 'ASIAEXAMPLE', secretAccessKey: seal('hush') } }),
      'X-Amz-Security-Token is not what this identity signs for this cluster',
    ],
    ['age', made({ now: minutes(-15.1) }), 'it is older than 15 minutes'],
    ['the future', made({ now: minutes(6) }), 'it is of the future'],
    ['another prefix', made().replace('v1', 'v2'), 'it has not the prefix'],
    ['padding', `${made()}=`, 'it is not base64 for URLs without padding'],
    ['a bearer token', 'k8s-aws-v1.aGVsbG8', 'it is not an https URL'],
    ['another host', changed((url) => (url.host = 'sts.evil.example')), 'the host sts.evil.example is not STS'],
    ['plain http', changed((url) => (url.protocol = 'http:')), 'it is not an https URL'],
    ['a path', changed((url) => (url.pathname = '/x')), 'it has a path'],
    ['another action', changed((url) => url.searchParams.set('Action', 'GetSessionToken')), 'it asks something else'],
    [
      'a parameter more',
      changed((url) => url.searchParams.set('RoleArn', 'x')),
      'it has a parameter that is not allowed',
    ],
    ['a parameter twice', changed((url) => url.searchParams.append('action', 'x')), 'it has a parameter twice'],
    [
      'an unsigned cluster',
      changed((url) => url.searchParams.set('X-Amz-SignedHeaders', 'host')),
      'the cluster is not signed',
    ],
    [
      'a long wish',
      changed((url) => url.searchParams.set('X-Amz-Expires', '61')),
      'X-Amz-Expires is not between 0 and 60',
    ],
    [
      'a later date than was signed',
      changed((url) => url.searchParams.set('X-Amz-Date', '20261116T120001Z')),
      'X-Amz-Signature is not what this identity signs for this cluster',
    ],
  ])('%s', async (_, token, why) => {
    expect(await whyRefused(token, cluster)).toBe(why)
  })
})
