// Credentials from a program that a kubeconfig names (client.authentication.k8s.io): asked for when they are needed and
// again before they expire. It does not speak with a person: the program gets no terminal.
import { execFile } from 'node:child_process'
import * as z from 'zod'
import { readJson } from '../api/record.ts'
import { seal } from '../api/sealed.ts'
import type { Access, Credentials } from './access.ts'

export interface Plugin {
  readonly apiVersion: string
  readonly command: string
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv // all of it, ours included
  readonly cluster: object | undefined // what it is told of the cluster
  readonly installHint: string | undefined
}

export type Identity = Pick<Access, 'credentials' | 'forget'>

interface Given {
  readonly credentials: Credentials
  readonly until: number
}

const aheadMs = 30_000 // credentials must last for the request they go with
const group = 'client.authentication.k8s.io'

const Status = z.object({
  token: z.string().nullish(),
  clientCertificateData: z.string().nullish(),
  clientKeyData: z.string().nullish(),
  expirationTimestamp: z.iso.datetime({ offset: true }).nullish(),
})
const Answer = z.object({ kind: z.literal('ExecCredential'), apiVersion: z.string(), status: Status })

export function createPlugin(plugin: Plugin, now: () => number): Identity {
  if (![`${group}/v1`, `${group}/v1beta1`].includes(plugin.apiVersion))
    throw trouble(plugin, `speaks ${plugin.apiVersion}, which is not supported: use one that speaks ${group}/v1`)
  let given: Given | undefined
  let asking: Promise<Given> | undefined
  const ask = async () => {
    try {
      given = readAnswer(plugin, await run(plugin))
      return given
    } finally {
      asking = undefined
    }
  }
  return {
    async credentials() {
      if (given && now() < given.until - aheadMs) return given.credentials
      asking ??= ask()
      return (await asking).credentials
    },
    // A program that runs now was started after what was refused came, and may end.
    forget() {
      given = undefined
    },
  }
}

// Node's error holds the program's output, and with it perhaps a token: only the last line of its complaints is told.
async function run(plugin: Plugin): Promise<string> {
  const { apiVersion, command, args, cluster, installHint = 'install it, or put it on the PATH' } = plugin
  const info = { apiVersion, kind: 'ExecCredential', spec: { ...(cluster && { cluster }), interactive: false } }
  const env = { ...plugin.env, KUBERNETES_EXEC_INFO: JSON.stringify(info) }
  return new Promise((resolve, reject) => {
    const child = execFile(command, args, { env }, (error, output, complaints) => {
      const said = complaints.trimEnd().split('\n').at(-1) || 'run it by hand to see why'
      if (!error) resolve(output)
      else if (error.code === 'ENOENT') reject(trouble(plugin, `is not there: ${installHint}`))
      else reject(trouble(plugin, `ended with ${error.code ?? error.signal}: ${said}`))
    })
    child.stdin?.end()
  })
}

function readAnswer(plugin: Plugin, output: string): Given {
  const answer = Answer.safeParse(readJson(output)).data
  const { token, clientCertificateData: certificate, clientKeyData: key, expirationTimestamp } = answer?.status ?? {}
  if (answer && answer.apiVersion !== plugin.apiVersion)
    throw trouble(
      plugin,
      `was asked in ${plugin.apiVersion} and answered in ${answer.apiVersion}: correct its kubeconfig`,
    )
  if (!certificate !== !key || !(token || certificate))
    throw trouble(
      plugin,
      'gave no ExecCredential with a token, or a certificate and its key: run it by hand to see why',
    )
  return {
    credentials: {
      ...(token && { token: seal(token) }),
      ...(certificate && { certificate }),
      ...(key && { key: seal(key) }),
    },
    until: expirationTimestamp ? Date.parse(expirationTimestamp) : Number.POSITIVE_INFINITY,
  }
}

function trouble({ command }: Plugin, what: string): Error {
  return new Error(`the exec plugin ${command} ${what}`)
}
