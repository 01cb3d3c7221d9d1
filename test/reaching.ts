// Clients of our own for stories, over either version of HTTP, with everything they open closed when the test ends.
import { onTestFinished } from 'vitest'
import { type Client, type ClientOptions, createClient } from '../src/kube/client.ts'
import { findAccess } from '../src/kube/find.ts'
import type { Version } from './bed/faults/client.ts'

export const protocols: Readonly<Record<Version, readonly ['h2' | 'http/1.1']>> = {
  'HTTP/2': ['h2'],
  'HTTP/1.1': ['http/1.1'],
}

export function aClient(kubeconfig: string, options: ClientOptions = {}): Client {
  const client = createClient(findAccess({ kubeconfig, env: {} }), options)
  onTestFinished(() => client.close())
  return client
}
