// Access as a pod has it: the address from the environment, the identity from the files the kubelet mounts and renews.
import { existsSync, readFileSync } from 'node:fs'
import { isIPv6 } from 'node:net'
import { join } from 'node:path'
import { seal } from '../api/sealed.ts'
import type { Access } from './access.ts'
import { trackFile } from './file.ts'
import { chooseProxy } from './proxy.ts'

const mounted = '/var/run/secrets/kubernetes.io/serviceaccount'

// None: this is no pod, or one without the token of a service account.
export function accessInCluster(env: NodeJS.ProcessEnv, now: () => number, folder = mounted): Access | undefined {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = env
  if (!host || !port || !existsSync(join(folder, 'token'))) return undefined
  const server = new URL(`https://${isIPv6(host) ? `[${host}]` : host}:${port}`)
  const token = trackFile(join(folder, 'token'), "the service account's token", now)
  const proxy = chooseProxy(server, env)
  const namespace = join(folder, 'namespace')
  return {
    server,
    ca: trackFile(join(folder, 'ca.crt'), "the service account's ca.crt", now).text(),
    ...(proxy && { proxy }),
    namespace: (existsSync(namespace) && readFileSync(namespace, 'utf8').trim()) || 'default',
    credentials: async () => ({ token: seal(token.text()) }),
    forget: token.forget,
  }
}
