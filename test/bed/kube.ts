// The bed's hands and eyes. They are its own: CAPT is not judged by its own client.
import { readFileSync } from 'node:fs'
import type { KubeObject as ApiObject } from '../../src/api/resource.ts'
import { type Patience, until } from '../until.ts'
import { runCommand } from './command.ts'
import { conditionsOf, describeObject } from './describe.ts'
import { readKubeconfig } from './kubeconfig.ts'
import { RefusedError, requestsTo } from './requests.ts'

export interface KubeObject extends ApiObject {
  readonly [field: string]: unknown
}

export type Trial = { readonly accepted: KubeObject } | { readonly refused: string }

export type ObjectRef = Pick<KubeObject, 'apiVersion' | 'kind' | 'metadata'>

export interface Kube {
  kubectl(args: readonly string[], input?: string): Promise<string>
  read(ref: ObjectRef): Promise<KubeObject | undefined>
  list(apiVersion: string, kind: string, namespace?: string): Promise<readonly KubeObject[]>
  // What the API server would make of a new object: the object as it would be stored, or why it refuses it.
  trial(object: KubeObject): Promise<Trial>
  apply(...objects: readonly KubeObject[]): Promise<void>
  patch(ref: ObjectRef, change: object, subresource?: 'status'): Promise<void>
  remove(ref: ObjectRef): Promise<void>
  // An admission policy knows other objects from a cache, which hears of a change a moment after it was made.
  seeKept(ref: ObjectRef): Promise<string> // waits until its deletion would be refused, and tells why
  removeWhenFree(ref: ObjectRef): Promise<void> // waits until its deletion is refused no more
  // Waits until `isSo` holds of the object, and shows the object when it does not in time.
  see(ref: ObjectRef, what: string, isSo: (object: KubeObject) => boolean, patience?: Patience): Promise<KubeObject>
  seeCondition(ref: ObjectRef, type: string, status: string, patience?: Patience): Promise<KubeObject>
  seeGone(ref: ObjectRef, patience?: Patience): Promise<void>
}

export function kubeOf(kubeconfigFile: string, kubectlProgram: string): Kube {
  const { reach, who } = readKubeconfig(readFileSync(kubeconfigFile, 'utf8'))
  const requests = requestsTo(reach, who)
  const whose = ['--kubeconfig', kubeconfigFile, '--cache-dir', `${kubeconfigFile}.cache`] // nothing in a person's home
  const kubectl: Kube['kubectl'] = async (args, input) =>
    runCommand(kubectlProgram, [...whose, ...args], input === undefined ? {} : { input })

  const kube: Kube = {
    kubectl,
    read: requests.get,
    list: async (apiVersion, kind, namespace) => requests.list({ apiVersion, kind }, namespace),
    async trial(object) {
      try {
        return { accepted: await requests.tryCreate(object) }
      } catch (error) {
        return { refused: refusalIn(error) }
      }
    },
    async apply(...objects) {
      for (const each of objects) await requests.apply(each)
    },
    patch: requests.patch,
    remove: requests.remove,
    async seeKept(ref) {
      const refusal = async () => requests.remove(ref, 'All').then(() => undefined, refusalIn)
      return until(`${tellRef(ref)} is kept`, refusal)
    },
    async removeWhenFree(ref) {
      await until(`${tellRef(ref)} may be deleted`, async () => requests.remove(ref).then(() => true))
    },
    async see(ref, what, isSo, patience) {
      return waitFor(ref, what, (object) => (object && isSo(object) ? object : undefined), patience)
    },
    async seeCondition(ref, type, status, patience) {
      const holds = (object: KubeObject) =>
        conditionsOf(object).some((each) => each.type === type && each.status === status)
      return kube.see(ref, `has condition ${type}=${status}`, holds, patience)
    },
    async seeGone(ref, patience) {
      await waitFor(ref, 'is gone', (object) => (object ? undefined : true), patience)
    },
  }

  async function waitFor<T>(
    ref: ObjectRef,
    what: string,
    judge: (object: KubeObject | undefined) => T | undefined,
    patience: Patience = {},
  ): Promise<T> {
    let last: KubeObject | undefined
    const look = async () => judge((last = await kube.read(ref)))
    try {
      return await until(`${tellRef(ref)} ${what}`, look, { everyMs: 100, ...patience })
    } catch (error) {
      throw new Error(`${(error as Error).message}\nseen last:\n${describeObject(last)}`, { cause: error })
    }
  }
  return kube
}

function refusalIn(error: unknown): string {
  if (!(error instanceof RefusedError) || error.code >= 500) throw error
  return error.told
}

function tellRef({ kind, metadata: { name, namespace } }: ObjectRef): string {
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`
}
