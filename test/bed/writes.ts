// Writes to an API server as kubectl does, without a process for each: a run of all stories writes some thousand times.
import { Agent, request } from 'node:https'
import type { KubeConfig } from '@kubernetes/client-node'
import type { KubeObject, ObjectRef } from './kube.ts'

export interface Writes {
  apply(object: KubeObject): Promise<void> // kubectl apply --server-side
  patch(ref: ObjectRef, change: object, subresource?: 'status'): Promise<void> // kubectl patch --type=merge
  remove(ref: ObjectRef, dryRun?: 'All'): Promise<void> // kubectl delete --ignore-not-found --wait=false
}

interface Asked {
  readonly type?: string
  readonly body?: object
}

interface Answer {
  readonly code: number
  readonly text: string
}

interface Served {
  readonly kind: string
  readonly name: string
  readonly namespaced: boolean
}

export function writesOf(config: KubeConfig): Writes {
  const { server = '', caData = '' } = config.getCurrentCluster() ?? {}
  const { certData, keyData, token } = config.getCurrentUser() ?? {}
  const bytes = (data: string) => Buffer.from(data, 'base64')
  const agent = new Agent({
    keepAlive: true,
    ca: bytes(caData),
    ...(certData !== undefined && { cert: bytes(certData) }),
    ...(keyData !== undefined && { key: bytes(keyData) }),
  })
  const whose = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const kinds = new Map<string, readonly Served[]>() // by group and version

  async function ask(method: string, path: string, { type = 'application/json', body }: Asked = {}): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    const text = body ? JSON.stringify(body) : ''
    // Of what a DELETE says Node tells nobody how long it is.
    const about = { 'content-type': type, 'content-length': Buffer.byteLength(text) }
    const headers = { ...whose, accept: 'application/json', 'user-agent': 'bed', ...about }
    const asking = request(`${server}${path}`, { method, agent, headers }, (answer) => {
      let said = ''
      answer.setEncoding('utf8')
      answer.on('data', (part: string) => (said += part))
      answer.on('end', () => resolve({ code: answer.statusCode ?? 0, text: said }))
      answer.on('error', reject)
    })
    asking.on('error', reject)
    asking.end(text)
    return promise
  }

  async function servedIn(root: string): Promise<readonly Served[]> {
    const { code, text } = await ask('GET', root)
    if (code !== 200) return []
    const { resources } = JSON.parse(text) as { readonly resources: readonly Served[] }
    kinds.set(root, resources)
    return resources
  }

  async function pathOf({ apiVersion, kind, metadata: { name, namespace = 'default' } }: ObjectRef): Promise<string> {
    const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
    const among = (served: readonly Served[]) => served.find((each) => each.kind === kind && !each.name.includes('/'))
    const found = among(kinds.get(root) ?? []) ?? among(await servedIn(root))
    if (!found) throw new Error(`the server doesn't have a resource type "${kind}" in ${apiVersion}`)
    return `${root}${found.namespaced ? `/namespaces/${namespace}` : ''}/${found.name}/${name}`
  }

  async function write(method: string, path: string, asked: Asked): Promise<void> {
    const { code, text } = await ask(method, path, asked)
    if (code < 300 || (method === 'DELETE' && code === 404)) return
    const { reason = '', message = text } = readStatus(text)
    throw new Error(`Error from server (${reason || code}): ${message}`)
  }

  return {
    async apply(object) {
      const query = 'fieldManager=bed&force=false&fieldValidation=Strict'
      await write('PATCH', `${await pathOf(object)}?${query}`, { type: 'application/apply-patch+yaml', body: object })
    },
    async patch(ref, change, subresource) {
      const path = `${await pathOf(ref)}${subresource ? `/${subresource}` : ''}?fieldManager=kubectl-patch`
      await write('PATCH', path, { type: 'application/merge-patch+json', body: change })
    },
    async remove(ref, dryRun) {
      const body = { propagationPolicy: 'Background', ...(dryRun && { dryRun: [dryRun] }) }
      await write('DELETE', await pathOf(ref), { body })
    },
  }
}

function readStatus(text: string): { readonly reason?: string; readonly message?: string } {
  try {
    return JSON.parse(text) as { readonly reason?: string; readonly message?: string }
  } catch {
    return {}
  }
}
