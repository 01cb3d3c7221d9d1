// Where the identity of this process comes from, in the order of AWS's SDKs: the environment, the shared files, a web identity
// (IRSA), the container's endpoint (EKS Pod Identity, ECS). Not from the instance's metadata: a manager that was given no
// identity would act with the node's.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Sealed, seal } from '../api/sealed.ts'
import { AwsError } from './errors.ts'
import { readProfile } from './profile.ts'
import type { Credentials } from './signature.ts'

export type Source =
  | { readonly is: 'keys'; readonly told: string; readonly credentials: Credentials }
  | {
      readonly is: 'webIdentity'
      readonly told: string
      readonly token: () => Sealed // as it is now: it is renewed
      readonly roleARN: string
      readonly sessionName: string
    }
  | {
      readonly is: 'container'
      readonly told: string
      readonly url: URL
      readonly authorization: () => Sealed | undefined
    }

export const ourSessionName = 'capt'

// Keys are read now, so that new ones are heard of at the next call. Throws a sentence when there is nothing.
export function findSource(env: NodeJS.ProcessEnv): Source {
  const source = fromEnvironment(env) ?? fromFiles(env) ?? fromWebIdentity(env) ?? fromContainer(env)
  if (source) return source
  throw wrong(
    'there are none',
    'give the manager a role (EKS Pod Identity, or IRSA), or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
  )
}

function fromEnvironment(env: NodeJS.ProcessEnv): Source | undefined {
  const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret, AWS_SESSION_TOKEN: session } = env
  if (!id && !secret) return undefined
  if (!id || !secret) {
    const [has, lacks] = id
      ? ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']
      : ['AWS_SECRET_ACCESS_KEY', 'AWS_ACCESS_KEY_ID']
    throw wrong(`${has} is set and ${lacks} is not`, 'set both, or none')
  }
  const credentials = {
    accessKeyId: oneLine(id, 'AWS_ACCESS_KEY_ID'),
    secretAccessKey: seal(oneLine(secret, 'AWS_SECRET_ACCESS_KEY')),
    ...(session && { sessionToken: seal(oneLine(session, 'AWS_SESSION_TOKEN')) }),
  }
  return { is: 'keys', told: 'the environment', credentials }
}

function fromFiles(env: NodeJS.ProcessEnv): Source | undefined {
  const { HOME: home = '', AWS_PROFILE: wanted } = env
  const credentials = env['AWS_SHARED_CREDENTIALS_FILE'] || (home && join(home, '.aws', 'credentials'))
  const config = env['AWS_CONFIG_FILE'] || (home && join(home, '.aws', 'config'))
  const name = wanted || 'default'
  const profile = readProfile({ credentials: readIfThere(credentials), config: readIfThere(config) }, name)
  switch (profile.is) {
    case 'keys':
      return { is: 'keys', told: `the profile ${name}`, credentials: profile.credentials }
    case 'empty':
      return undefined
    case 'absent':
      if (!wanted) return undefined
      throw wrong(`there is no profile ${name} in ${credentials} and ${config}`, 'correct AWS_PROFILE')
    case 'half':
      throw wrong(`the profile ${name} has no ${profile.lacks}`, 'add it')
    case 'unsupported':
      throw wrong(
        `the profile ${name} asks for ${profile.asksFor}, which CAPT does not do`,
        'write keys into it, or give the manager a role (EKS Pod Identity, or IRSA)',
      )
  }
}

function fromWebIdentity(env: NodeJS.ProcessEnv): Source | undefined {
  const { AWS_WEB_IDENTITY_TOKEN_FILE: file, AWS_ROLE_ARN: roleARN, AWS_ROLE_SESSION_NAME: sessionName } = env
  if (!file) return undefined
  if (!roleARN) throw wrong('AWS_WEB_IDENTITY_TOKEN_FILE is set and AWS_ROLE_ARN is not', 'set it to the ARN of a role')
  return {
    is: 'webIdentity',
    told: `the role ${roleARN}`,
    token: () => readToken(file, 'AWS_WEB_IDENTITY_TOKEN_FILE'),
    roleARN,
    sessionName: sessionName || ourSessionName,
  }
}

function fromContainer(env: NodeJS.ProcessEnv): Source | undefined {
  const { AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: relative, AWS_CONTAINER_CREDENTIALS_FULL_URI: full } = env
  if (!relative && !full) return undefined
  const url = URL.parse(relative ? `http://169.254.170.2${relative}` : (full ?? ''))
  if (!url || !isSafe(url))
    throw wrong(
      'AWS_CONTAINER_CREDENTIALS_FULL_URI may be plain http only to this machine and to the agents of EKS and ECS',
      'write an https address',
    )
  const { AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: file, AWS_CONTAINER_AUTHORIZATION_TOKEN: plain } = env
  const authorization = () => {
    if (file) return readToken(file, 'AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE')
    return plain ? seal(oneLine(plain, 'AWS_CONTAINER_AUTHORIZATION_TOKEN')) : undefined
  }
  return { is: 'container', told: 'the container', url, authorization }
}

// As AWS's SDKs demand: credentials come back over this connection.
function isSafe({ protocol, hostname }: URL): boolean {
  if (protocol === 'https:') return true
  const near = ['localhost', '[::1]', '169.254.170.2', '169.254.170.23', '[fd00:ec2::23]']
  return protocol === 'http:' && (near.includes(hostname) || /^127(\.\d+){3}$/.test(hostname))
}

function readIfThere(path: string): string {
  try {
    return path && readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return ''
    throw wrong(String(error instanceof Error && error.message), `let this process read ${path}`)
  }
}

function readToken(path: string, variable: string): Sealed {
  let text: string
  try {
    text = readFileSync(path, 'utf8').trim()
  } catch (error) {
    throw wrong(String(error instanceof Error && error.message), `correct ${variable}, or mount the file it names`)
  }
  if (!text) throw wrong(`the file of ${variable} is empty`, 'see who should have written it', { isFinal: false })
  return seal(oneLine(text, variable))
}

// A line break at the end is the usual mistake. AWS would only say that the signature is wrong, or Node that a header is.
function oneLine(text: string, variable: string): string {
  if (/^[!-~]+$/.test(text)) return text
  throw wrong(`what ${variable} gives is not one word`, 'write it without spaces and line breaks')
}

function wrong(why: string, mend: string, { isFinal } = { isFinal: true }): AwsError {
  return new AwsError({ doing: 'find AWS credentials', why, mend, isFinal })
}
