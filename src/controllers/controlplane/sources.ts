// Where a credential for the cluster comes from: what the template wrote, a token signed with our identity at AWS, or one of our own
// account in the cluster. It asks AWS and the cluster, and writes nothing here.
import { isIP } from 'node:net'
import type { CAPTControlPlane } from '../../api/captcontrolplane.ts'
import type { Sealed } from '../../api/sealed.ts'
import { AwsError } from '../../aws/errors.ts'
import type { Connection } from '../../secrets/connection.ts'
import type { Material } from '../../secrets/copies.ts'
import { readEndpoint, urlOf } from '../../secrets/endpoint.ts'
import {
  isSameServer,
  judgeKubeconfig,
  type Way,
  writeKubeconfig,
  writeUserKubeconfig,
} from '../../secrets/kubeconfig.ts'
import { renewalOf } from '../../secrets/token.ts'
import { tellClaimed, tellNamesake } from './claim.ts'
import { clusterNameOf, eksNameOf, regionOf } from './eks.ts'
import type { Outside, Token } from './outside.ts'
import type { Answer, Credential, Mend, Seen } from './seen.ts'
import { isRejected } from './upkeep.ts'

type Around = Pick<Seen, 'controlPlane' | 'network' | 'cluster' | 'now' | 'claimedBy' | 'namesake'>

export interface Made {
  readonly is: 'made'
  readonly way: Way
  readonly kubeconfig: Sealed
  readonly expires: Date | undefined
  readonly isRenewedByUs: boolean
}

interface Shown extends Made {
  readonly answer: Answer
  readonly isInstead?: true
}

type Refused = Extract<Credential, { is: 'refused' | 'none' }>
type Offered = Made | Refused
export type Tried = Shown | Refused

const none = { is: 'none' } as const

function refused(why: string, mend: Mend = 'here'): Refused {
  return { is: 'refused', mend, why }
}

// Which of two may be over first.
function lighter(one: Mend, other: Mend): Mend {
  return (['nowhere', 'elsewhere'] as const).find((each) => each === one || each === other) ?? 'here'
}

// `kept` gives the way that the last one leads, where there is one that is taken.
export async function makeCredential(
  outside: Outside,
  around: Around,
  connection: Connection,
  kept: () => Promise<Way | undefined>,
): Promise<Tried> {
  const { complaints } = connection
  if (complaints.length > 0) return none
  const { source = 'Auto', server, serviceAccount } = around.controlPlane.spec.kubeconfig ?? {}
  if (server !== undefined && !readEndpoint(server))
    return refused('spec.kubeconfig.server is not an address such as https://10.0.0.1:443')
  switch (source) {
    case 'Template':
      return shown(outside, ofTemplate(around, connection))
    case 'AWS':
      return shown(outside, await ofAws(outside, around, connection))
    case 'Auto': {
      const written = await shown(outside, ofTemplate(around, connection))
      if (written.is === 'made' && !isRejected(written.answer)) return written
      const signed = await shown(outside, await ofAws(outside, around, connection))
      if (written.is === 'made')
        return signed.is === 'made' && signed.answer.is === 'yes' ? { ...signed, isInstead: true } : written
      if (signed.is !== 'refused' || !connection.kubeconfig || written.is !== 'refused') return signed
      return refused(`${written.why}; and without it: ${signed.why}`, signed.mend)
    }
    case 'ServiceAccount': {
      const first = await kept()
      const again = first && (await ofAccount(outside, around, turned(first, whereIs(around, connection, first.ca))))
      if (again?.is === 'made') return shown(outside, again)
      const bootstrap =
        serviceAccount?.bootstrap === 'Template'
          ? ofTemplate(around, connection)
          : await ofAws(outside, around, connection)
      const anew = bootstrap.is === 'made' ? await ofAccount(outside, around, bootstrap.way) : bootstrap
      if (anew.is !== 'refused' || again?.is !== 'refused' || again.why === anew.why) return shown(outside, anew)
      return refused(`${again.why}; and anew: ${anew.why}`, lighter(again.mend, anew.mend))
    }
  }
}

async function shown(outside: Outside, offered: Offered): Promise<Tried> {
  return offered.is === 'made' ? { ...offered, answer: await outside.greet(offered.way) } : offered
}

// With the credential that the template wrote: whoever runs Terraform renews it.
function ofTemplate({ controlPlane, now }: Around, connection: Connection): Offered {
  const { kubeconfig } = connection
  if (!kubeconfig) return refused('there is no output kubeconfig: add one, or choose another spec.kubeconfig.source')
  if (kubeconfig === 'exposed')
    return refused(
      'output kubeconfig is not a secret, for whoever reads the status reads it: add sensitive = true to it',
    )
  const judged = judgeKubeconfig(kubeconfig, now)
  if (judged.is === 'unusable') return refused(`output kubeconfig: ${judged.why}`)
  const { server } = controlPlane.spec.kubeconfig ?? {}
  const { way, expires } = judged
  const reach = reachOf(controlPlane, connection)
  const isMeant = isSameServer(way.server, server ?? reach.server)
  if (!isMeant && server === undefined) {
    const why = `its server ${way.server} is not cluster_endpoint ${reach.server}: if it is meant, set spec.kubeconfig.server to it`
    return refused(`output kubeconfig: ${why}`)
  }
  const there = isMeant ? way : { ...way, ...reach, ca: way.ca }
  // What was not judged does not get through.
  const ours = writeKubeconfig(clusterNameOf(controlPlane), there)
  return { is: 'made', way: there, kubeconfig: ours, expires, isRenewedByUs: false }
}

async function ofAws(outside: Outside, around: Around, connection: Connection): Promise<Offered> {
  const { controlPlane, claimedBy, namesake } = around
  const { clusterName } = connection
  const [name, region] = [eksNameOf(controlPlane), regionOf(around)]
  if (region === undefined) return refused('no region is known: set spec.controlPlaneConfig.region')
  // Who can write a control plane or a template must not get a token for somebody else's cluster.
  if (claimedBy) return refused(tellClaimed(controlPlane, claimedBy))
  if (namesake) return refused(tellNamesake(controlPlane, namesake))
  if (clusterName !== name) {
    const what = clusterName === undefined ? 'there is no output cluster_name' : `output cluster_name is ${clusterName}`
    return refused(`${what}, and no token is signed for another cluster than ${name}: let the template output its name`)
  }
  const { roleARN, externalID } = controlPlane.spec.kubeconfig?.aws ?? {}
  const role = { ...(roleARN !== undefined && { roleARN }), ...(externalID !== undefined && { externalID }) }
  try {
    return tokenMade(around, connection, await outside.awsToken({ clusterName: name, region, ...role }))
  } catch (error) {
    if (!(error instanceof AwsError)) throw error
    return refused(error.message, error.isFinal ? 'elsewhere' : 'nowhere') // IAM is mended at AWS, where we do not look
  }
}

// The same credential, shown elsewhere.
function turned({ token, certificate, key }: Way, reach: Omit<Way, 'token'>): Way {
  return { ...reach, ...(token && { token }), ...(certificate && { certificate }), ...(key && { key }) }
}

async function ofAccount(outside: Outside, around: Around, way: Way): Promise<Offered> {
  const { expirationSeconds = 86_400 } = around.controlPlane.spec.kubeconfig?.serviceAccount ?? {}
  const { certificate: _, key: __, ...reach } = way
  const token = await outside.accountToken(way, expirationSeconds)
  if ('is' in token) return refused(`no token of an account can be had: ${token.why}`, 'nowhere')
  return made(around, reach, token)
}

function tokenMade(around: Around, connection: Connection, token: Token): Offered {
  const { ca } = connection
  return ca === undefined ? none : made(around, whereIs(around, connection, ca), token)
}

function made({ controlPlane, now }: Around, reach: Omit<Way, 'token'>, { token, expires }: Token): Offered {
  if (expires <= now)
    return refused('the new token has expired already: see whether the clock here is right', 'nowhere')
  const way = { ...reach, token }
  const kubeconfig = writeKubeconfig(clusterNameOf(controlPlane), way)
  return { is: 'made', way, kubeconfig, expires, isRenewedByUs: true }
}

// As it is now, wherever it was when a credential was made.
function whereIs(
  { controlPlane }: Around,
  connection: Connection,
  ca: string,
): Pick<Way, 'server' | 'serverName' | 'ca'> {
  return { ...reachOf(controlPlane, connection), ca: connection.ca ?? ca }
}

// Another address leads to the same API server, whose certificate names itself.
function reachOf({ spec }: CAPTControlPlane, { endpoint }: Connection): Pick<Way, 'server' | 'serverName'> {
  const own = endpoint ? urlOf(endpoint) : ''
  const { server } = spec.kubeconfig ?? {}
  if (server === undefined || !endpoint || isSameServer(server, own)) return { server: server ?? own }
  return { server, ...(isIP(endpoint.host) === 0 && { serverName: endpoint.host }) }
}

export function materialOf(around: Around, { way, kubeconfig, expires, isRenewedByUs }: Made): Material {
  const { controlPlane, now } = around
  const eks = { name: eksNameOf(controlPlane), region: regionOf(around) }
  const span = isRenewedByUs && expires && { from: now, until: expires }
  return {
    kubeconfig,
    userKubeconfig: writeUserKubeconfig(clusterNameOf(controlPlane), way, eks),
    ca: way.ca,
    expires,
    renews: span ? renewalOf(span, controlPlane.metadata.uid ?? '') : undefined,
  }
}
