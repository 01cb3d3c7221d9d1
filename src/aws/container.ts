// Asks the agent beside a container for credentials: EKS Pod Identity's, or that of ECS. It keeps nothing.
import * as z from 'zod'
import { readJson } from '../api/record.ts'
import { type Complaint, credentialsOf } from './answer.ts'
import { type Answer, type Around, call } from './call.ts'
import { refusal } from './refusal.ts'
import type { Credentials } from './signature.ts'
import type { Source } from './source.ts'

const Given = z.object({
  AccessKeyId: z.string(),
  SecretAccessKey: z.string(),
  Token: z.string(),
  Expiration: z.string(),
})
const Refusal = z.union([
  z.object({ Code: z.string(), Message: z.string().optional() }),
  z.object({ code: z.string(), message: z.string().optional() }),
])

export async function askContainer(source: Extract<Source, { is: 'container' }>, around: Around): Promise<Credentials> {
  const { url } = source
  const authorization = source.authorization()
  const doing = `get credentials from ${url.origin}`
  const headers = { accept: 'application/json', ...(authorization && { authorization: authorization.open() }) }
  const answer = await call(
    { doing, method: 'GET', url, headers, ...(url.protocol === 'http:' && { isNear: true as const }) },
    around,
  )
  const credentials = answer.status === 200 ? readGiven(answer.text) : undefined
  if (credentials) return credentials
  throw refusal({
    doing,
    status: answer.status,
    complaint: readRefusal(answer),
    secrets: authorization ? [authorization] : [],
    isRenewed: true,
    mends: {
      AccessDeniedException:
        'see that the Pod Identity association of this service account names a role that trusts pods.eks.amazonaws.com',
    },
  })
}

function readGiven(text: string): Credentials | undefined {
  const given = Given.safeParse(readJson(text)).data
  return (
    given &&
    credentialsOf({
      accessKeyId: given.AccessKeyId,
      secretAccessKey: given.SecretAccessKey,
      sessionToken: given.Token,
      expiration: given.Expiration,
    })
  )
}

// ECS answers in JSON. The agent of Pod Identity writes a line such as `[id]: (AccessDeniedException): why, fault: client`, or
// only says why.
function readRefusal({ status, text }: Answer): Complaint | undefined {
  const said = Refusal.safeParse(readJson(text)).data
  if (said) return 'Code' in said ? complain(said.Code, said.Message) : complain(said.code, said.message)
  if (status < 400) return undefined // what is no credentials may still hold some of them
  const [, code, message] = /\((\w+)\): (.*)/.exec(text) ?? []
  return code === undefined ? complain('', text) : complain(code, message)
}

function complain(code: string, message = ''): Complaint {
  return { code, message }
}
