// The manager's AWS identity, as controllers use it: it makes tokens that open EKS clusters, as itself or in a role. Where it
// comes from is `source.ts`'s; what AWS gives is remembered here and renewed in time.
import type { Around } from './call.ts'
import { askContainer } from './container.ts'
import { AwsError } from './errors.ts'
import { createMemory } from './memory.ts'
import { hasEnded } from './refusal.ts'
import type { Credentials } from './signature.ts'
import { findSource, ourSessionName, type Source } from './source.ts'
import { assumeRole, assumeRoleWithWebIdentity } from './sts.ts'
import { type EksToken, eksToken } from './token.ts'

export interface Wanted {
  readonly clusterName: string // as EKS knows it
  readonly region: string // of the cluster
  readonly roleARN?: string // to assume first
  readonly externalID?: string
}

export interface Identity {
  // Throws an AwsError.
  token(wanted: Wanted): Promise<EksToken>
}

export interface IdentityOptions {
  readonly env: NodeJS.ProcessEnv
  readonly now?: () => number
  readonly withinMs?: number // for a call to AWS
}

const itself = 'itself' // what the memory calls us; roles have ARNs

export function createIdentity({ env, now = Date.now, withinMs = 10_000 }: IdentityOptions): Identity {
  const around: Around = { env, now, withinMs }
  const memory = createMemory(now)

  async function own(source: Source, region: string): Promise<Credentials> {
    switch (source.is) {
      case 'keys':
        return source.credentials
      case 'webIdentity':
        return memory.recall(itself, async () =>
          assumeRoleWithWebIdentity({ ...source, region }, source.token(), around),
        )
      case 'container':
        return memory.recall(itself, async () => askContainer(source, around))
    }
  }

  async function inRole(roleARN: string, externalID: string | undefined, region: string): Promise<Credentials> {
    const source = findSource(env)
    const isRenewed = source.is !== 'keys'
    const by = { externalID, credentials: await own(source, region), told: source.told, isRenewed }
    try {
      return await assumeRole({ roleARN, sessionName: ourSessionName, region }, by, around)
    } catch (error) {
      if (hasEnded(error)) memory.forget(itself)
      throw error
    }
  }

  return {
    async token({ clusterName, region, roleARN, externalID }) {
      const near = env['AWS_REGION'] || env['AWS_DEFAULT_REGION'] || region
      const credentials =
        roleARN === undefined
          ? await own(findSource(env), near)
          : // Who does not know the external id gets nothing of what another got with it.
            await memory.recall(`${roleARN} ${externalID ?? ''}`, async () => inRole(roleARN, externalID, near))
      const moment = new Date(now())
      if (credentials.expires && credentials.expires <= moment)
        throw new AwsError({
          doing: `sign a token for the EKS cluster ${clusterName}`,
          why: `the credentials that AWS gave ended at ${credentials.expires.toISOString()}`,
          mend: 'set the clock of this machine',
          isFinal: false,
        })
      return eksToken({ clusterName, region, credentials, now: moment })
    },
  }
}
