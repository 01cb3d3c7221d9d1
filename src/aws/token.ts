// The token that opens an EKS cluster: a question to STS, "who am I", signed but not asked. The cluster asks it, and so
// learns who signed. The cluster's name is signed with it, so that no other cluster can use it.
import { type Sealed, seal } from '../api/sealed.ts'
import { AwsError } from './errors.ts'
import { stsHost } from './partition.ts'
import { type Credentials, presign } from './signature.ts'

export interface EksToken {
  readonly token: Sealed
  readonly expires: Date
}

export interface TokenWish {
  readonly clusterName: string
  readonly region: string
  readonly credentials: Credentials
  readonly now: Date
}

// aws-iam-authenticator and STS take it for 15 minutes after X-Amz-Date, whatever X-Amz-Expires says (which old
// authenticators want to be at most 60). A minute is for the way and for clocks.
const lastsMs = 14 * 60_000
const expiresSeconds = 60
const longest = 4096 // for aws-iam-authenticator

export function eksToken({ clusterName, region, credentials, now }: TokenWish): EksToken {
  const url = new URL(`https://${stsHost(region)}/?Action=GetCallerIdentity&Version=2011-06-15`)
  const headers = { 'x-k8s-aws-id': clusterName }
  const presigned = presign({ url, headers, expiresSeconds }, { region, credentials, now })
  const token = `k8s-aws-v1.${Buffer.from(presigned).toString('base64url')}`
  if (token.length > longest)
    throw new AwsError({
      doing: `sign a token for the EKS cluster ${clusterName}`,
      why: `it has ${token.length} characters, and EKS takes ${longest}`,
      mend: 'use a role with fewer session tags and policies',
      isFinal: true,
    })
  const ends = Math.min(now.getTime() + lastsMs, credentials.expires?.getTime() ?? Number.POSITIVE_INFINITY)
  return { token: seal(token), expires: new Date(ends) }
}
