// Requests to an API server as kubectl makes them, without a process and a connection for each: a run of all stories makes some ten
// thousand.
import { Agent, request } from 'node:https'
import type { KubeObject, ObjectRef } from './kube.ts'
import type { Credentials, Reach } from './kubeconfig.ts'

export interface Requests {
  get(ref: ObjectRef): Promise<KubeObject | undefined>
  list(kind: KindRef, namespace?: string): Promise<readonly KubeObject[]>
  tryCreate(object: KubeObject): Promise<KubeObject> // kubectl create --dry-run=server
  apply(object: KubeObject): Promise<void> // kubectl apply --server-side
  patch(ref: ObjectRef, change: object, subresource?: 'status'): Promise<void> // kubectl patch --type=merge
  remove(ref: ObjectRef, dryRun?: 'All'): Promise<void> // kubectl delete --ignore-not-found --wait=false
}

export class RefusedError extends Error {
  readonly code: number
  readonly told: string

  constructor(code: number, { reason, message: told }: Status) {
    super(`Error from server (${reason}): ${told}`)
    this.code = code
    this.told = told
  }
}

type KindRef = Pick<ObjectRef, 'apiVersion' | 'kind'>

interface Status {
  readonly reason: string
  readonly message: string
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

export function requestsTo({ server, ca }: Reach, who: Credentials): Requests {
  const agent = new Agent({ keepAlive: true, ca, ...('cert' in who && who) })
  const whose = 'token' in who ? { authorization: `Bearer ${who.token}` } : {}
  const kinds = new Map<string, readonly Served[]>() // by group and version

  async function send(method: string, path: string, { type = 'application/json', body }: Asked): Promise<Answer> {
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
    asking.on('error', (error) => {
      // A connection that was kept may have ended unseen; who only looks may look again.
      if (asking.reusedSocket && method === 'GET') resolve(send(method, path, {}))
      else reject(error)
    })
    asking.end(text)
    return promise
  }

  async function ask<T>(method: string, path: string, asked: Asked = {}): Promise<T> {
    const { code, text } = await send(method, path, asked)
    if (code >= 300) throw new RefusedError(code, { reason: String(code), message: text, ...readStatus(text) })
    return JSON.parse(text) as T
  }

  async function servedIn(root: string): Promise<readonly Served[]> {
    const { resources } = await ask<{ readonly resources: readonly Served[] }>('GET', root)
    kinds.set(root, resources)
    return resources
  }

  async function placeOf({ apiVersion, kind }: KindRef, namespace?: string): Promise<string> {
    const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
    const among = (served: readonly Served[]) => served.find((each) => each.kind === kind && !each.name.includes('/'))
    const found = among(kinds.get(root) ?? []) ?? among(await servedIn(root))
    if (!found) {
      const message = `the server doesn't have a resource type "${kind}" in ${apiVersion}`
      throw new RefusedError(404, { reason: 'NotFound', message })
    }
    return `${root}${found.namespaced && namespace !== undefined ? `/namespaces/${namespace}` : ''}/${found.name}`
  }

  async function pathOf(ref: ObjectRef): Promise<string> {
    const { name, namespace = 'default' } = ref.metadata
    return `${await placeOf(ref, namespace)}/${name}`
  }

  return {
    async get(ref) {
      const path = await pathOf(ref)
      return ask<KubeObject>('GET', path).catch(unlessMissing)
    },
    async list(kind, namespace) {
      const { items } = await ask<{ readonly items: readonly KubeObject[] }>('GET', await placeOf(kind, namespace))
      return items.map((item) => ({ ...item, ...kind })) // of its own kinds the API server does not say it
    },
    async tryCreate(object) {
      const place = await placeOf(object, object.metadata.namespace ?? 'default')
      return ask('POST', `${place}?dryRun=All`, { body: object })
    },
    async apply(object) {
      const query = 'fieldManager=bed&force=false&fieldValidation=Strict'
      await ask('PATCH', `${await pathOf(object)}?${query}`, { type: 'application/apply-patch+yaml', body: object })
    },
    async patch(ref, change, subresource) {
      const path = `${await pathOf(ref)}${subresource ? `/${subresource}` : ''}?fieldManager=kubectl-patch`
      await ask('PATCH', path, { type: 'application/merge-patch+json', body: change })
    },
    async remove(ref, dryRun) {
      const body = { propagationPolicy: 'Background', ...(dryRun && { dryRun: [dryRun] }) }
      await ask('DELETE', await pathOf(ref), { body }).catch(unlessMissing)
    },
  }
}

function unlessMissing(error: unknown): undefined {
  if (!(error instanceof RefusedError && error.code === 404)) throw error
}

function readStatus(text: string): Partial<Status> {
  try {
    return JSON.parse(text) as Partial<Status>
  } catch {
    return {}
  }
}
