import { describe, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { now } from '../../../test/applies.ts'
import { built, but, cluster, connection, controlPlane, network, rejected } from '../../../test/controlplanes.ts'
import { aCA, aJwt, anAwsToken, anotherCA } from '../../../test/pki.ts'
import { seal } from '../../api/sealed.ts'
import { AwsError } from '../../aws/errors.ts'
import type { Connection } from '../../secrets/connection.ts'
import { judgeKubeconfig, type Way, writeKubeconfig } from '../../secrets/kubeconfig.ts'
import type { Outside } from './outside.ts'
import type { Answer, No, Seen } from './seen.ts'
import { makeCredential, materialOf, type Tried } from './sources.ts'

const server = 'https://api.example:443'
const after = (seconds: number) => new Date(now.getTime() + seconds * 1000)
const token = (text: string, seconds: number) => ({ token: seal(text), expires: after(seconds) })
const out = new AwsError({ doing: 'assume the role', why: 'AWS is out', isFinal: false })
const barred = new AwsError({ doing: 'assume the role', why: 'AccessDenied', isFinal: true })
const silent: No = { is: 'no', why: 'nobody listens' }

interface Wish {
  readonly kubeconfig?: object // of the spec
  readonly connection?: Partial<Connection>
  readonly config?: object
  readonly kept?: Way
  readonly aws?: Error
  readonly account?: No | ((way: Way) => No | undefined)
  readonly life?: number
  readonly answers?: Readonly<Record<string, Answer>> // to tokens; else it is taken
  readonly seen?: Partial<Pick<Seen, 'claimedBy' | 'namesake'>>
}

const yes: Answer = { is: 'yes' }

// Asks for a credential, and tells what came of it and who was asked on the way.
async function ask({ kubeconfig, connection: more, config, kept, aws, account, life = 840, answers = {}, seen }: Wish) {
  const asked: string[] = []
  const outside: Outside = {
    async awsToken({ clusterName, region, ...role }) {
      asked.push(`aws ${clusterName} ${region} ${Object.values(role).join(' ')}`.trim())
      if (aws) throw aws
      return token('from-aws', life)
    },
    async accountToken(way, seconds) {
      asked.push(`account at ${way.server} as ${way.token?.open()} for ${seconds}`)
      return (typeof account === 'function' ? account(way) : account) ?? token('from-account', seconds)
    },
    removeLoadBalancers: async () => Promise.reject(new Error('this is no farewell')),
    greet: async ({ token: shown }) => {
      const [, answer = yes] = Object.entries(answers).find(([each]) => each === shown?.open()) ?? []
      return answer
    },
  }
  const around = {
    controlPlane: but(controlPlane, { spec: { kubeconfig, controlPlaneConfig: config } }),
    network,
    cluster,
    now,
    claimedBy: undefined,
    namesake: undefined,
    ...seen,
  }
  const tried = await makeCredential(outside, around, { ...connection, ...more }, async () => kept)
  return { tried, asked, around }
}
const tell = (tried: Tried) => {
  if (tried.is !== 'made') return tried.is === 'none' ? 'none' : `mended ${tried.mend}: ${tried.why}`
  const { token: by, server: at, serverName } = tried.way
  return [by?.open(), at, serverName, tried.isInstead ? 'instead' : undefined]
    .filter((each) => each !== undefined)
    .join(' ')
}
const written = (way: Partial<Way> = {}) => ({
  kubeconfig: writeKubeconfig('x', { server, ca: aCA, token: seal('from-template'), ...way }),
})
const lb = 'https://10.0.0.9'

describe('a credential comes', () => {
  test.each<{ from: string; wish: Wish; gives: string; asked?: readonly string[] }>([
    { from: 'from the template, if it wrote one', wish: { connection: written() }, gives: `from-template ${server}` },
    { from: 'else from AWS', wish: {}, gives: `from-aws ${server}`, asked: ['aws demo ap-northeast-1'] },
    {
      from: "from AWS, if the template's is over",
      wish: { connection: written({ token: seal(anAwsToken(after(-900))) }) },
      gives: `from-aws ${server}`,
      asked: ['aws demo ap-northeast-1'],
    },
    {
      from: "from AWS, if the template's is for another server",
      wish: { connection: written({ server: 'https://other.example' }) },
      gives: `from-aws ${server}`,
      asked: ['aws demo ap-northeast-1'],
    },
    {
      from: "from AWS, if the template's is rejected",
      wish: { connection: written(), answers: { 'from-template': rejected } },
      gives: `from-aws ${server} instead`,
      asked: ['aws demo ap-northeast-1'],
    },
    {
      from: 'from the template all the same, if that of AWS is rejected, too',
      wish: { connection: written(), answers: { 'from-template': rejected, 'from-aws': rejected } },
      gives: `from-template ${server}`,
      asked: ['aws demo ap-northeast-1'],
    },
    {
      from: 'from the template all the same, if AWS has none',
      wish: { connection: written(), answers: { 'from-template': rejected }, aws: barred },
      gives: `from-template ${server}`,
      asked: ['aws demo ap-northeast-1'],
    },
    {
      from: 'from the template, though nobody answers to it',
      wish: { connection: written(), answers: { 'from-template': { is: 'no', why: 'no answer' } } },
      gives: `from-template ${server}`,
    },
    {
      from: 'from AWS alone, if that is asked for',
      wish: { kubeconfig: { source: 'AWS' }, connection: written() },
      gives: `from-aws ${server}`,
      asked: ['aws demo ap-northeast-1'],
    },
    {
      from: 'with a role',
      wish: { kubeconfig: { source: 'AWS', aws: { roleARN: 'arn:role', externalID: 'x1' } } },
      gives: `from-aws ${server}`,
      asked: ['aws demo ap-northeast-1 arn:role x1'],
    },
    {
      from: 'with the region that is written on it',
      wish: { config: { region: 'eu-west-1' } },
      gives: `from-aws ${server}`,
      asked: ['aws demo eu-west-1'],
    },
    {
      from: 'from an account, by way of AWS',
      wish: { kubeconfig: { source: 'ServiceAccount' } },
      gives: `from-account ${server}`,
      asked: ['aws demo ap-northeast-1', `account at ${server} as from-aws for 86400`],
    },
    {
      from: 'from an account, by way of the template',
      wish: {
        kubeconfig: { source: 'ServiceAccount', serviceAccount: { bootstrap: 'Template', expirationSeconds: 600 } },
        connection: written(),
      },
      gives: `from-account ${server}`,
      asked: [`account at ${server} as from-template for 600`],
    },
    {
      from: 'from an account, by its last token',
      wish: { kubeconfig: { source: 'ServiceAccount' }, kept: { server, ca: aCA, token: seal('last') } },
      gives: `from-account ${server}`,
      asked: [`account at ${server} as last for 86400`],
    },
    {
      from: 'from an account, by AWS when its last token is not taken',
      wish: {
        kubeconfig: { source: 'ServiceAccount' },
        kept: { server, ca: aCA, token: seal('last') },
        account: (way) => (way.token?.open() === 'last' ? silent : undefined),
      },
      gives: `from-account ${server}`,
      asked: [
        `account at ${server} as last for 86400`,
        'aws demo ap-northeast-1',
        `account at ${server} as from-aws for 86400`,
      ],
    },
    {
      from: 'for the server as it is now, though the last was elsewhere',
      wish: {
        kubeconfig: { source: 'ServiceAccount' },
        kept: { server: 'https://old.example', serverName: 'old', ca: anotherCA, token: seal('last') },
      },
      gives: `from-account ${server}`,
      asked: [`account at ${server} as last for 86400`],
    },
    {
      from: 'for another address, which must show the name of the cluster',
      wish: { kubeconfig: { server: lb } },
      gives: `from-aws ${lb} api.example`,
      asked: ['aws demo ap-northeast-1'],
    },
    {
      from: 'for another address of a cluster that is itself one',
      wish: { kubeconfig: { server: lb }, connection: { endpoint: { host: '10.0.0.1', port: 443 } } },
      gives: `from-aws ${lb}`,
      asked: ['aws demo ap-northeast-1'],
    },
    {
      from: 'for the same address in other words',
      wish: { kubeconfig: { server: 'https://api.example' } },
      gives: 'from-aws https://api.example',
      asked: ['aws demo ap-northeast-1'],
    },
    {
      from: 'from the template, turned to another address',
      wish: { kubeconfig: { server: lb }, connection: written() },
      gives: `from-template ${lb} api.example`,
    },
    {
      from: 'from the template, which knows the other address',
      wish: { kubeconfig: { server: lb }, connection: written({ server: lb }) },
      gives: `from-template ${lb}`,
    },
  ])('$from', async ({ wish, gives, asked: whom = [] }) => {
    const { tried, asked } = await ask(wish)
    expect(tell(tried)).toBe(gives)
    expect(asked).toEqual(whom)
  })

  test('as the template wrote it, and nothing that was not judged comes with it', async () => {
    const config = parse(written().kubeconfig.open()) as { clusters: object[]; users: object[] }
    const stranger = {
      name: 'stranger',
      cluster: { server: 'https://stranger.example' },
      user: { tokenFile: '/token' },
    }
    const text = stringify({ ...config, clusters: [...config.clusters, stranger], users: [...config.users, stranger] })
    const { tried } = await ask({ connection: { kubeconfig: seal(text) } })
    const way = { server, ca: aCA, token: seal('from-template') }
    expect(tried.is === 'made' && tried.kubeconfig.open()).toBe(writeKubeconfig('demo', way).open())
  })
})

describe('no credential comes', () => {
  test.each<{ when: string; wish: Wish; why: string; asked?: readonly string[] }>([
    { when: 'the connection is not whole', wish: { connection: { complaints: ['x'] } }, why: 'none' },
    {
      when: 'the template names another cluster',
      wish: { connection: { clusterName: 'other' } },
      why: 'mended here: output cluster_name is other, and no token is signed for another cluster than demo',
    },
    {
      when: 'the template names none',
      wish: { connection: { clusterName: undefined } },
      why: 'mended here: there is no output cluster_name',
    },
    {
      when: 'the template names another, and an account is wanted',
      wish: { kubeconfig: { source: 'ServiceAccount' }, connection: { clusterName: 'other' } },
      why: 'mended here: output cluster_name is other',
    },
    {
      when: 'the template wrote none',
      wish: { kubeconfig: { source: 'Template' } },
      why: 'mended here: there is no output kubeconfig',
    },
    {
      when: 'the template wrote one for everybody to see',
      wish: { kubeconfig: { source: 'Template' }, connection: { kubeconfig: 'exposed' } },
      why: 'mended here: output kubeconfig is not a secret, for whoever reads the status reads it: add sensitive = true to it',
    },
    {
      when: 'the template wrote one for everybody to see, and AWS is out',
      wish: { connection: { kubeconfig: 'exposed' }, aws: out },
      why: 'add sensitive = true to it; and without it: cannot assume the role: AWS is out',
      asked: ['aws demo ap-northeast-1'],
    },
    {
      when: 'the template wrote one that cannot be used',
      wish: { kubeconfig: { source: 'Template' }, connection: { kubeconfig: seal('a: [') } },
      why: 'mended here: output kubeconfig: it is not YAML',
    },
    {
      when: 'that is for another server',
      wish: { kubeconfig: { source: 'Template' }, connection: written({ server: 'https://other.example' }) },
      why: 'mended here: output kubeconfig: its server https://other.example is not cluster_endpoint',
    },
    {
      when: 'another has the name in that account and region',
      wish: { seen: { claimedBy: { namespace: 'rich', name: 'prod' } } },
      why: 'mended here: CAPTControlPlane rich/prod has a cluster demo in that account and region: set spec.eksClusterName',
    },
    {
      when: 'the token would open the cluster of another, too',
      wish: { seen: { namesake: { namespace: 'rich', name: 'prod' } } },
      why: 'mended here: a token for demo would open the cluster of CAPTControlPlane rich/prod, too',
    },
    {
      when: 'the token for an account would open the cluster of another, too',
      wish: { kubeconfig: { source: 'ServiceAccount' }, seen: { namesake: { namespace: 'rich', name: 'prod' } } },
      why: 'mended here: a token for demo would open the cluster of CAPTControlPlane rich/prod, too',
    },
    {
      when: 'AWS is out',
      wish: { aws: out },
      why: 'mended nowhere: cannot assume the role: AWS is out',
      asked: ['aws demo ap-northeast-1'],
    },
    {
      when: 'AWS says no',
      wish: { aws: barred },
      why: 'mended elsewhere: cannot assume the role: AccessDenied',
      asked: ['aws demo ap-northeast-1'],
    },
    {
      when: 'neither the template nor AWS has one',
      wish: { connection: { kubeconfig: seal('a: [') }, aws: out },
      why: 'mended nowhere: output kubeconfig: it is not YAML, from line 1 on: correct it; and without it: cannot assume the role',
      asked: ['aws demo ap-northeast-1'],
    },
    {
      when: 'the API server is out, and AWS says no',
      wish: {
        kubeconfig: { source: 'ServiceAccount' },
        kept: { server, ca: aCA, token: seal('last') },
        account: silent,
        aws: barred,
      },
      why: 'mended nowhere: no token of an account can be had: nobody listens; and anew: cannot assume the role: AccessDenied',
      asked: [`account at ${server} as last for 86400`, 'aws demo ap-northeast-1'],
    },
    {
      when: 'it is over when it comes',
      wish: { life: 0 },
      why: 'mended nowhere: the new token has expired already',
      asked: ['aws demo ap-northeast-1'],
    },
    {
      when: 'the other address is none',
      wish: { kubeconfig: { server: 'https://10.0.0.1:99999' } },
      why: 'mended here: spec.kubeconfig.server is not an address',
    },
  ])('when $when', async ({ wish, why, asked: whom = [] }) => {
    const { tried, asked } = await ask(wish)
    expect(tell(tried)).toContain(why)
    expect(asked).toEqual(whom)
  })

  test('without a region', async () => {
    const outside = { awsToken: async () => Promise.reject(new Error('asked')) } as unknown as Outside
    const around = { ...built, network: undefined, cluster }
    expect(tell(await makeCredential(outside, around, connection, async () => undefined))).toContain(
      'no region is known',
    )
  })

  test('and what is no trouble of AWS or of the API server is a bug, and not told as trouble', async () => {
    await expect(ask({ aws: new TypeError('oops') })).rejects.toThrow('oops')
  })
})

describe('of what the Secrets are made', () => {
  const made = async (wish: Wish) => {
    const { tried, around } = await ask(wish)
    if (tried.is !== 'made') throw new Error(tell(tried))
    return materialOf(around, tried)
  }
  test('a token of ours is renewed in time, one of the template by whoever runs Terraform', async () => {
    const { expires, renews, kubeconfig } = await made({})
    expect(expires).toEqual(after(840))
    expect(renews && renews > now && renews < after(600)).toBe(true)
    expect(judgeKubeconfig(kubeconfig, now)).toMatchObject({ is: 'usable' })
    const lasting = seal(aJwt({ exp: after(3600).getTime() / 1000 }))
    expect(await made({ connection: written({ token: lasting }) })).toMatchObject({
      expires: after(3600),
      renews: undefined,
    })
    expect(await made({ connection: written() })).toMatchObject({ expires: undefined, renews: undefined })
  })
  test('people get one for their own identity, in that region', async () => {
    const { userKubeconfig, ca } = await made({})
    expect(userKubeconfig).toContain('ap-northeast-1')
    expect(userKubeconfig).not.toContain('from-aws')
    expect(ca).toBe(aCA)
  })
})
