// Against a stand-in of AWS on this machine, which takes only what is rightly signed.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { inspect } from 'node:util'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Asked, complaint, type Knows, type Mishap, type StandIn, startAws } from '../../test/aws.ts'
import { anAuthority } from '../../test/bed/certificates.ts'
import { whyRefused } from '../../test/eks-authenticator.ts'
import { aFolder } from '../../test/folder.ts'
import type { PlainCredentials } from '../../test/signatures.ts'
import { until } from '../../test/until.ts'
import { AwsError } from './errors.ts'
import { createIdentity, type Identity, type Wanted } from './identity.ts'
import { findSource } from './source.ts'
import type { EksToken } from './token.ts'

const start = Date.parse('2026-11-16T12:00:00Z')
const minute = 60_000
const demo: Wanted = { clusterName: 'demo', region: 'ap-northeast-1' }
const role: Wanted = { ...demo, roleARN: 'arn:aws:iam::111122223333:role/demo' }
const user: PlainCredentials = { accessKeyId: 'AKIAUSER', secretAccessKey: 'user-secret' }
const userEnv = { AWS_ACCESS_KEY_ID: user.accessKeyId, AWS_SECRET_ACCESS_KEY: user.secretAccessKey }
const roleARN = 'arn:aws:iam::111122223333:role/manager'

interface Scene {
  readonly aws: StandIn
  readonly clock: { now: number }
  readonly identity: Identity
}

// `env` may name the stand-in.
async function aScene(
  env: NodeJS.ProcessEnv | ((url: string) => NodeJS.ProcessEnv),
  knows: Partial<Knows> = {},
): Promise<Scene> {
  const clock = { now: start }
  const now = () => clock.now
  const aws = await startAws({ users: [user], now, ...knows })
  const said = typeof env === 'function' ? env(aws.url) : env
  const identity = createIdentity({ env: { AWS_ENDPOINT_URL_STS: aws.url, ...said }, now, withinMs: 2000 })
  return { aws, clock, identity }
}

const verdict = async ({ token }: EksToken, credentials: PlainCredentials | undefined, now: number) =>
  whyRefused(token.open(), { clusterName: 'demo', credentials: credentials ?? user, now: () => now })

const trouble = async (asked: Promise<unknown>): Promise<AwsError> => {
  const error = await asked.then(
    () => new Error('it went well'),
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(AwsError)
  return error as AwsError
}

describe('the identity is found', () => {
  const file = (name: string, text: string) => join(aFolder({ [name]: text }), name)
  const profile = (text: string) => ({ AWS_SHARED_CREDENTIALS_FILE: file('credentials', text) })
  const inFile = '[default]\naws_access_key_id=AKIAFILE\naws_secret_access_key=file-secret\n'
  const fileUser = { accessKeyId: 'AKIAFILE', secretAccessKey: 'file-secret' }
  const irsa = () => ({ AWS_WEB_IDENTITY_TOKEN_FILE: file('token', 'jwt\n'), AWS_ROLE_ARN: roleARN })

  test('in the environment, before everything else', async () => {
    const { identity, aws } = await aScene({ ...userEnv, ...profile(inFile), ...irsa() })
    expect(await verdict(await identity.token(demo), user, start)).toBeUndefined()
    expect(aws.asked).toEqual([])
  })

  test('in the environment, with a session', async () => {
    const { identity } = await aScene({ ...userEnv, AWS_SESSION_TOKEN: 'session' })
    expect(await verdict(await identity.token(demo), { ...user, sessionToken: 'session' }, start)).toBeUndefined()
  })

  test('in the shared files, before a web identity, and as they are now', async () => {
    const shared = profile(inFile)
    const { identity, aws } = await aScene({ ...shared, ...irsa() })
    expect(await verdict(await identity.token(demo), fileUser, start)).toBeUndefined()
    writeFileSync(shared.AWS_SHARED_CREDENTIALS_FILE, inFile.replace('file-secret', 'renewed'))
    const renewed = { ...fileUser, secretAccessKey: 'renewed' }
    expect(await verdict(await identity.token(demo), renewed, start)).toBeUndefined()
    expect(aws.asked).toEqual([])
  })

  test('in the shared files at home, in the profile that is wanted', async () => {
    const home = aFolder()
    mkdirSync(join(home, '.aws'))
    writeFileSync(join(home, '.aws', 'credentials'), '[mine]\naws_access_key_id=AKIAFILE\n')
    writeFileSync(join(home, '.aws', 'config'), '[profile mine]\naws_secret_access_key=file-secret\n')
    const { identity } = await aScene({ HOME: home, AWS_PROFILE: 'mine' })
    expect(await verdict(await identity.token(demo), fileUser, start)).toBeUndefined()
  })

  test('by a web identity, before the container; its file is read anew for each call', async () => {
    const jwt = file('token', 'jwt-1\n')
    let known = 'jwt-1'
    const env = {
      AWS_WEB_IDENTITY_TOKEN_FILE: jwt,
      AWS_ROLE_ARN: roleARN,
      AWS_CONTAINER_CREDENTIALS_FULL_URI: 'http://127.0.0.1:1',
    }
    const { identity, aws, clock } = await aScene(env, { webIdentity: () => known })
    expect(await verdict(await identity.token(demo), aws.given[0], start)).toBeUndefined()
    expect(aws.asked[0]?.fields).toEqual({
      Action: 'AssumeRoleWithWebIdentity',
      Version: '2011-06-15',
      RoleArn: roleARN,
      RoleSessionName: 'capt',
      WebIdentityToken: 'jwt-1',
    })
    known = 'jwt-2'
    writeFileSync(jwt, known)
    clock.now += 56 * minute
    expect(await verdict(await identity.token(demo), aws.given[1], clock.now)).toBeUndefined()
  })

  test('by a web identity under a name of its own', async () => {
    const { identity, aws } = await aScene({ ...irsa(), AWS_ROLE_SESSION_NAME: 'me' }, { webIdentity: () => 'jwt' })
    await identity.token(demo)
    expect(aws.asked[0]?.fields['RoleSessionName']).toBe('me')
  })

  test.each<[string, () => NodeJS.ProcessEnv]>([
    ['in a file', () => ({ AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: file('token', 'pod-token\n') })],
    ['in a variable', () => ({ AWS_CONTAINER_AUTHORIZATION_TOKEN: 'pod-token' })],
    [
      'in a file before a variable',
      () => ({
        AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: file('token', 'pod-token'),
        AWS_CONTAINER_AUTHORIZATION_TOKEN: 'x',
      }),
    ],
  ])('by the agent of the container, with its token %s, and never through a proxy', async (_, token) => {
    const env = (url: string) => ({
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `${url}/v1/credentials`,
      HTTP_PROXY: 'http://127.0.0.1:1',
      ...token(),
    })
    const { identity, aws } = await aScene(env, { podIdentity: () => 'pod-token' })
    expect(await verdict(await identity.token(demo), aws.given[0], start)).toBeUndefined()
  })
})

describe('what somebody must mend is said, and is final', () => {
  const written = (text: string) => ({ AWS_CONFIG_FILE: join(aFolder({ config: text }), 'config') })
  test.each<[string, () => NodeJS.ProcessEnv, RegExp]>([
    [
      'nothing',
      () => ({}),
      /^there are none: give the manager a role \(EKS Pod Identity, or IRSA\), or set AWS_ACCESS_KEY_ID/,
    ],
    [
      'half a pair',
      () => ({ AWS_ACCESS_KEY_ID: 'AKIA' }),
      /^AWS_ACCESS_KEY_ID is set and AWS_SECRET_ACCESS_KEY is not: set both, or none$/,
    ],
    [
      'the other half',
      () => ({ AWS_SECRET_ACCESS_KEY: 'hush' }),
      /^AWS_SECRET_ACCESS_KEY is set and AWS_ACCESS_KEY_ID is not/,
    ],
    [
      'a line break after a secret',
      () => ({ ...userEnv, AWS_SESSION_TOKEN: 'session\n' }),
      /^what AWS_SESSION_TOKEN gives is not one word/,
    ],
    ['no such profile', () => ({ AWS_PROFILE: 'gone' }), /^there is no profile gone in .*: correct AWS_PROFILE$/],
    [
      'a program',
      () => written('[default]\ncredential_process=x'),
      /^the profile default asks for credential_process, which CAPT does not do: write keys/,
    ],
    [
      'half a profile',
      () => written('[default]\naws_access_key_id=x'),
      /^the profile default has no aws_secret_access_key: add it$/,
    ],
    ['an unreadable file', () => ({ AWS_CONFIG_FILE: aFolder() }), /^EISDIR.*: let this process read \//],
    [
      'no role',
      () => ({ AWS_WEB_IDENTITY_TOKEN_FILE: '/x' }),
      /^AWS_WEB_IDENTITY_TOKEN_FILE is set and AWS_ROLE_ARN is not/,
    ],
    [
      'no token',
      () => ({ AWS_WEB_IDENTITY_TOKEN_FILE: '/gone', AWS_ROLE_ARN: roleARN }),
      /^ENOENT.*: correct AWS_WEB_IDENTITY_TOKEN_FILE, or mount/,
    ],
    [
      'a plain agent elsewhere',
      () => ({ AWS_CONTAINER_CREDENTIALS_FULL_URI: 'http://10.0.0.1/' }),
      /^AWS_CONTAINER_CREDENTIALS_FULL_URI may be plain http only to this machine/,
    ],
    [
      'a name that looks near',
      () => ({ AWS_CONTAINER_CREDENTIALS_FULL_URI: 'http://127.0.0.1.evil.example/' }),
      /may be plain http only/,
    ],
    [
      'an agent that leads elsewhere',
      () => ({ AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: '@evil.example/' }),
      /may be plain http only/,
    ],
    ['no URL', () => ({ AWS_CONTAINER_CREDENTIALS_FULL_URI: 'x' }), /may be plain http only/],
    [
      'a token of two lines',
      () => ({ AWS_CONTAINER_CREDENTIALS_FULL_URI: 'http://127.0.0.1/', AWS_CONTAINER_AUTHORIZATION_TOKEN: 'a\nb' }),
      /^what AWS_CONTAINER_AUTHORIZATION_TOKEN gives is not one word: write it without spaces and line breaks$/,
    ],
  ])('%s', async (_, env, says) => {
    const error = await trouble(createIdentity({ env: env(), now: () => start }).token(demo))
    expect(error.message).toMatch(/^cannot find AWS credentials: /)
    expect(error.message.replace('cannot find AWS credentials: ', '')).toMatch(says)
    expect(error.isFinal).toBe(true)
  })

  test.each([
    'http://169.254.170.2',
    'http://169.254.170.23',
    'http://[fd00:ec2::23]',
    'http://[::1]',
    'http://localhost',
    'http://127.9.9.9',
    'https://agent.example',
  ])('an agent at %s is no mistake', (agent) => {
    const env = { AWS_CONTAINER_CREDENTIALS_FULL_URI: `${agent}/v1/credentials` }
    expect(findSource(env)).toMatchObject({ is: 'container', url: new URL(`${agent}/v1/credentials`) })
  })

  test('the agent of ECS is known by a path alone', () => {
    const env = { AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: '/v2/1', AWS_CONTAINER_CREDENTIALS_FULL_URI: 'https://x' }
    expect(findSource(env)).toMatchObject({ url: new URL('http://169.254.170.2/v2/1') })
  })

  test('a token that is being written is waited for', async () => {
    const folder = aFolder({ token: '' })
    const env = { AWS_WEB_IDENTITY_TOKEN_FILE: join(folder, 'token'), AWS_ROLE_ARN: roleARN }
    expect((await trouble(createIdentity({ env }).token(demo))).isFinal).toBe(false)
  })
})

describe('a role is assumed', () => {
  test('with the external id, under our name', async () => {
    const { identity, aws } = await aScene(userEnv)
    const made = await identity.token({ ...role, externalID: 'ext&1' })
    expect(await verdict(made, aws.given[0], start)).toBeUndefined()
    expect(aws.asked[0]?.fields).toEqual({
      Action: 'AssumeRole',
      Version: '2011-06-15',
      RoleArn: role.roleARN,
      RoleSessionName: 'capt',
      ExternalId: 'ext&1',
    })
  })

  test('by whom the container is', async () => {
    const env = (url: string) => ({
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `${url}/v1/credentials`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN: 'pod',
    })
    const { identity, aws } = await aScene(env, { podIdentity: () => 'pod' })
    expect(await verdict(await identity.token(role), aws.given[1], start)).toBeUndefined()
    expect(aws.asked[1]?.headers['x-amz-security-token']).toBe(aws.given[0]?.sessionToken)
  })

  test.each<[string, NodeJS.ProcessEnv]>([
    ['AWS_REGION', { AWS_REGION: 'eu-west-1', AWS_DEFAULT_REGION: 'us-east-1' }],
    ['AWS_DEFAULT_REGION', { AWS_DEFAULT_REGION: 'eu-west-1' }],
  ])('in the region of %s; the token is still for that of the cluster', async (_, env) => {
    const { identity, aws } = await aScene({ ...userEnv, ...env }, { region: 'eu-west-1' })
    const { token } = await identity.token(role)
    expect(aws.asked).toHaveLength(1)
    expect(Buffer.from(token.open().slice(11), 'base64url').toString()).toContain(
      'https://sts.ap-northeast-1.amazonaws.com/?',
    )
  })

  test('where AWS_ENDPOINT_URL says, unless STS has one of its own', async () => {
    const { identity, aws } = await aScene((url) => ({
      ...userEnv,
      AWS_ENDPOINT_URL_STS: '',
      AWS_ENDPOINT_URL: `${url}/sts`,
    }))
    await identity.token(role)
    expect(aws.asked[0]?.path).toBe('/sts')
    const nowhere = createIdentity({ env: { ...userEnv, AWS_ENDPOINT_URL: 'sts' } })
    expect(await trouble(nowhere.token(role))).toMatchObject({
      message: `cannot assume the role ${role.roleARN}: AWS_ENDPOINT_URL is not a URL: write one such as https://sts.example`,
      isFinal: true,
    })
  })
})

describe('what AWS gave is remembered', () => {
  test('until five minutes before it ends, and then asked for anew', async () => {
    const { identity, aws, clock } = await aScene(userEnv)
    await identity.token(role)
    clock.now = start + 55 * minute - 1
    const last = await identity.token(role)
    expect(aws.asked).toHaveLength(1)
    expect(await verdict(last, aws.given[0], clock.now)).toBeUndefined()
    expect(last.expires).toEqual(new Date(start + 60 * minute))
    clock.now = start + 55 * minute
    const next = await identity.token(role)
    expect(aws.asked).toHaveLength(2)
    expect(await verdict(next, aws.given[1], clock.now)).toBeUndefined()
    expect(next.expires).toEqual(new Date(clock.now + 14 * minute))
  })

  test('for each role and external id of its own', async () => {
    const { identity, aws } = await aScene(userEnv)
    const wanted = [
      role,
      { ...role, externalID: 'one' },
      { ...role, externalID: 'two' },
      { ...role, roleARN: `${role.roleARN}-2` },
    ]
    for (const each of [...wanted, ...wanted]) await identity.token(each)
    expect(aws.asked).toHaveLength(4)
    await identity.token({ ...role, clusterName: 'other', region: 'us-east-1' })
    expect(aws.asked).toHaveLength(4)
  })

  test('and askers at the same time share one call', async () => {
    const env = (url: string) => ({
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `${url}/v1/credentials`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN: 'pod',
    })
    const { identity, aws } = await aScene(env, { podIdentity: () => 'pod' })
    const other = { ...role, roleARN: `${role.roleARN}-2` }
    const made = await Promise.all([demo, role, other, demo, role, other].map(async (each) => identity.token(each)))
    expect(made).toHaveLength(6)
    expect(aws.asked.map(({ path, fields }) => fields['RoleArn'] ?? path).toSorted()).toEqual([
      '/v1/credentials',
      role.roleARN,
      other.roleARN,
    ])
  })

  test('but a failure is not: all who waited hear of it, the next asks again', async () => {
    const { identity, aws } = await aScene(userEnv)
    aws.mishaps.push({ do: 'answer', ...complaint(400, 'Throttling', 'Rate exceeded') })
    const both = await Promise.all([trouble(identity.token(role)), trouble(identity.token(role))])
    expect(both.map(({ isFinal }) => isFinal)).toEqual([false, false])
    expect(aws.asked).toHaveLength(1)
    expect(await verdict(await identity.token(role), aws.given[0], start)).toBeUndefined()
  })

  test('even while its token file is away', async () => {
    const folder = aFolder({ token: 'jwt' })
    const env = { AWS_WEB_IDENTITY_TOKEN_FILE: join(folder, 'token'), AWS_ROLE_ARN: roleARN }
    const { identity, aws } = await aScene(env, { webIdentity: () => 'jwt' })
    await identity.token(demo)
    rmSync(join(folder, 'token'))
    expect(await verdict(await identity.token(demo), aws.given[0], start)).toBeUndefined()
  })

  test('unless AWS says that it has ended: then another is asked for', async () => {
    const env = (url: string) => ({
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `${url}/v1/credentials`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN: 'pod',
    })
    const { identity, aws } = await aScene(env, { podIdentity: () => 'pod' })
    await identity.token(demo)
    aws.mishaps.push({ do: 'answer', ...complaint(403, 'ExpiredToken', 'it has ended') })
    expect(await trouble(identity.token(role))).toMatchObject({
      message: `cannot assume the role ${role.roleARN}: 403 ExpiredToken (it has ended)`,
      isFinal: false,
    })
    await identity.token(role)
    expect(aws.asked.map(({ path }) => path)).toEqual(['/v1/credentials', '/', '/v1/credentials', '/'])
  })

  test('and what has ended before it came is not signed with', async () => {
    const { identity } = await aScene(userEnv, { lastsMs: -1 })
    expect(await trouble(identity.token(role))).toMatchObject({
      message:
        'cannot sign a token for the EKS cluster demo: the credentials that AWS gave ended at 2026-11-16T11:59:59.999Z: set the clock of this machine',
      isFinal: false,
    })
  })
})

describe('when AWS refuses, it is said whether that passes', () => {
  const answered = (status: number, code: string, message = 'so it is') => complaint(status, code, message)
  const cannot = `cannot assume the role ${role.roleARN}: `
  test.each<[string, { status: number; body: string }, boolean, RegExp]>([
    [
      'denied',
      answered(403, 'AccessDenied', 'User: x is not authorized'),
      true,
      /^403 AccessDenied \(User: x is not authorized\): let the role trust the identity of the environment/,
    ],
    ['wrong', answered(400, 'ValidationError'), true, /^400 ValidationError \(so it is\): correct the ARN/],
    ['a policy', answered(400, 'MalformedPolicyDocument'), true, /^400 MalformedPolicyDocument \(so it is\)$/],
    ['an unknown key', answered(403, 'InvalidClientTokenId'), true, /: renew the credentials of the environment$/],
    [
      'a wrong signature',
      answered(403, 'SignatureDoesNotMatch'),
      true,
      /: correct the secret access key of the environment, or the clock/,
    ],
    [
      'a closed region',
      answered(403, 'RegionDisabledException'),
      true,
      /: activate STS in ap-northeast-1 for the account, or name another region in AWS_REGION$/,
    ],
    [
      'an ended session that nobody renews',
      answered(403, 'ExpiredToken'),
      true,
      /: renew the credentials of the environment$/,
    ],
    ['too much', answered(400, 'Throttling', 'Rate exceeded'), false, /^400 Throttling \(Rate exceeded\)$/],
    ['too much, in other words', answered(429, 'X'), false, /^429 X/],
    ['trouble over there', answered(500, 'InternalFailure'), false, /^500 InternalFailure/],
    ['away', answered(503, 'ServiceUnavailable'), false, /^503 ServiceUnavailable/],
    [
      'garbage',
      { status: 200, body: 'hello' },
      false,
      /^the answer \(200\) is not one of AWS: see what stands between this process and AWS$/,
    ],
    ['a gateway', { status: 403, body: '<html>Forbidden</html>' }, false, /^the answer \(403\) is not one of AWS/],
    ['too large', { status: 200, body: 'x'.repeat(300_000) }, false, /: the answer is larger than 256 KiB$/],
    ['a long speech', answered(400, 'X', 'long '.repeat(200)), true, /^400 X \((long )+…\)$/],
  ])('%s', async (_, said, isFinal, why) => {
    const { identity, aws } = await aScene(userEnv)
    aws.mishaps.push({ do: 'answer', ...said })
    const error = await trouble(identity.token(role))
    expect(error.message.startsWith(cannot)).toBe(true)
    expect(error.message.slice(cannot.length)).toMatch(why)
    expect(error.isFinal).toBe(isFinal)
  })

  test.each<[string, { status: number; body: string }, boolean, RegExp]>([
    [
      'a stranger, or an issuer that AWS cannot ask for now',
      answered(400, 'InvalidIdentityToken'),
      false,
      /: make the management cluster's OIDC issuer an identity provider/,
    ],
    ['denied', answered(403, 'AccessDenied'), true, /: let the role trust this service account/],
    ['an old token, which is renewed', answered(400, 'ExpiredTokenException'), false, /^400 ExpiredTokenException/],
    ['a provider that is away', answered(400, 'IDPCommunicationError'), false, /^400 IDPCommunicationError/],
  ])('to a web identity: %s', async (_, said, isFinal, why) => {
    const env = { AWS_WEB_IDENTITY_TOKEN_FILE: join(aFolder({ token: 'jwt' }), 'token'), AWS_ROLE_ARN: roleARN }
    const { identity, aws } = await aScene(env, { webIdentity: () => 'jwt' })
    aws.mishaps.push({ do: 'answer', ...said })
    const error = await trouble(identity.token(demo))
    expect(error.message.replace(`cannot assume the role ${roleARN} with a web identity: `, '')).toMatch(why)
    expect(error.isFinal).toBe(isFinal)
  })

  test.each<[string, { status: number; body: string }, boolean, RegExp]>([
    [
      'a line',
      { status: 400, body: '[1]: (AccessDeniedException): no, fault: client' },
      true,
      /^400 AccessDeniedException \(no, fault: client\): see that the Pod Identity association/,
    ],
    [
      'only words',
      { status: 400, body: 'Service account token cannot be empty\n' },
      true,
      /^400 \(Service account token cannot be empty\)$/,
    ],
    ['JSON', { status: 404, body: '{"Code":"NotFound","Message":"gone"}' }, true, /^404 NotFound \(gone\)$/],
    ['JSON in small letters', { status: 400, body: '{"code":"Bad","message":"no"}' }, true, /^400 Bad \(no\)$/],
    [
      'an old token',
      { status: 400, body: '[1]: (ExpiredTokenException): old, fault: client' },
      false,
      /^400 ExpiredTokenException/,
    ],
    ['too much', { status: 429, body: 'Too Many Requests.' }, false, /^429 \(Too Many Requests\.\)$/],
    [
      'half of what was asked',
      { status: 200, body: '{"AccessKeyId":"a","SecretAccessKey":"hush"}' },
      false,
      /^the answer \(200\) is not one of AWS/,
    ],
  ])('to a container: %s', async (_, said, isFinal, why) => {
    const { identity, aws } = await aScene((url) => ({ AWS_CONTAINER_CREDENTIALS_FULL_URI: `${url}/v1/credentials` }))
    aws.mishaps.push({ do: 'answer', ...said })
    const error = await trouble(identity.token(demo))
    expect(error.message.replace(`cannot get credentials from ${aws.url}: `, '')).toMatch(why)
    expect(error.isFinal).toBe(isFinal)
  })
})

describe('on the way', () => {
  test.each<[string, Mishap, RegExp]>([
    ['silence', { do: 'silence' }, /: no answer from 127\.0\.0\.1:\d+ within 0\.2 s$/],
    ['half an answer', { do: 'cut' }, /: 127\.0\.0\.1:\d+: aborted$/],
  ])('%s passes', async (_, mishap, says) => {
    const aws = await startAws({ users: [user], now: () => start })
    const identity = createIdentity({ env: { ...userEnv, AWS_ENDPOINT_URL: aws.url }, now: () => start, withinMs: 200 })
    aws.mishaps.push(mishap)
    const error = await trouble(identity.token(role))
    expect(error.message).toMatch(says)
    expect(error.isFinal).toBe(false)
    await identity.token(role)
  })

  test('nobody there passes', async () => {
    const identity = createIdentity({ env: { ...userEnv, AWS_ENDPOINT_URL: 'http://127.0.0.1:1' } })
    const error = await trouble(identity.token(role))
    expect(error.message).toContain(': 127.0.0.1:1: connect ECONNREFUSED')
    expect(error.isFinal).toBe(false)
  })

  test('TLS is checked, and AWS_CA_BUNDLE names an authority more', async () => {
    const authority = anAuthority('aws')
    const tls = authority.issueServer('sts', ['127.0.0.1'])
    const { identity, aws } = await aScene(userEnv, { tls })
    const error = await trouble(identity.token(role))
    expect(error.message).toMatch(/certificate.* \(an authority of your own is named by AWS_CA_BUNDLE\)$/)
    expect(error.isFinal).toBe(false)
    const bundle = join(aFolder({ bundle: authority.cert }), 'bundle')
    const env = { ...userEnv, AWS_ENDPOINT_URL: aws.url, AWS_CA_BUNDLE: bundle }
    await createIdentity({ env, now: () => start }).token(role)
    expect(aws.asked).toHaveLength(1)
    const usual = getCACertificates('default')
    onTestFinished(() => setDefaultCACertificates(usual))
    setDefaultCACertificates([...usual, authority.cert])
    const another = join(aFolder({ bundle: anAuthority('another').cert }), 'bundle')
    await createIdentity({ env: { ...env, AWS_CA_BUNDLE: another }, now: () => start }).token(role)
    expect(aws.asked).toHaveLength(2)
    const gone = createIdentity({ env: { ...env, AWS_CA_BUNDLE: '/gone' } })
    expect(await trouble(gone.token(role))).toMatchObject({
      message: expect.stringMatching(/: cannot read AWS_CA_BUNDLE: ENOENT/) as string,
      isFinal: true,
    })
  })

  test('a proxy of the environment is gone through to the STS of the region, and a wrong one is somebody to mend', async () => {
    const ways: string[] = []
    const proxy = createServer().on('connect', ({ url = '' }, socket) => {
      ways.push(url)
      socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void proxy.close())
    const host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`
    const env = { ...userEnv, HTTPS_PROXY: `http://me:hush@${host}` }
    const refused = await trouble(createIdentity({ env }).token({ ...role, region: 'cn-north-1' }))
    const sts = 'sts.cn-north-1.amazonaws.com.cn'
    expect(refused.message).toBe(
      `cannot assume the role ${role.roleARN}: ${sts}: the proxy ${host} gives no way to ${sts}:443: 403 Forbidden`,
    )
    expect(refused.isFinal).toBe(false)
    expect(ways).toEqual([`${sts}:443`])
    const wrong = createIdentity({ env: { ...env, HTTPS_PROXY: 'socks5://hush@x' } })
    expect(await trouble(wrong.token(role))).toMatchObject({
      message: `cannot assume the role ${role.roleARN}: HTTPS_PROXY is a SOCKS proxy: only http://host:port and https:// will do`,
      isFinal: true,
    })
  })

  test('whoever waits is not kept by another that is slow', async () => {
    const { identity, aws } = await aScene(userEnv)
    const gate = Promise.withResolvers<void>()
    aws.mishaps.push({ do: 'wait', until: gate.promise })
    const slow = identity.token(role)
    await until('it is asked', async () => aws.asked.length === 1 || undefined)
    await identity.token({ ...role, externalID: 'other' })
    gate.resolve()
    expect((await slow).expires).toEqual(new Date(start + 14 * minute))
  })
})

test('no error ever holds a secret, however AWS words it', async () => {
  const secret = fc.stringMatching(/^[A-Za-z0-9+/=._~-]{12,40}$/)
  const code = fc.constantFrom('AccessDenied', 'SignatureDoesNotMatch', 'Throttling', 'X')
  const part = fc.constantFrom('headers', 'fields', 'body')
  const way = fc.constantFrom('keys', 'web', 'pod')
  const aws = await startAws({ now: () => start })
  const folder = aFolder()
  const asForm = (text: string) => new URLSearchParams({ x: text }).toString().slice(2)
  await fc.assert(
    fc.asyncProperty(secret, secret, secret, code, part, way, async (key, session, jwt, word, told, from) => {
      writeFileSync(join(folder, 'token'), jwt)
      const secrets = [key, session, jwt].flatMap((each) => [each, asForm(each)])
      // It tells what it was asked, from where a secret is on.
      const body = (asked: Asked) => {
        const text = JSON.stringify(asked[told])
        const at = Math.max(0, ...secrets.map((each) => text.indexOf(each) - 20))
        return complaint(403, word, text.slice(at)).body
      }
      aws.mishaps.push({ do: 'answer', status: 403, body })
      const env = {
        keys: { AWS_ACCESS_KEY_ID: 'AKIA', AWS_SECRET_ACCESS_KEY: key, AWS_SESSION_TOKEN: session },
        web: { AWS_WEB_IDENTITY_TOKEN_FILE: join(folder, 'token'), AWS_ROLE_ARN: roleARN },
        pod: {
          AWS_CONTAINER_CREDENTIALS_FULL_URI: `${aws.url}/v1/credentials`,
          AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: join(folder, 'token'),
        },
      }[from]
      const identity = createIdentity({ env: { ...env, AWS_ENDPOINT_URL: aws.url }, now: () => start })
      const error = await trouble(identity.token(role))
      const all = `${inspect(error, { depth: 10, showHidden: true })} ${JSON.stringify(error)}`
      for (const each of secrets) expect(all).not.toContain(each)
    }),
    { numRuns: 200 },
  )
})
