#!/usr/bin/env node
// capt-manager: wiring only.
import { createIdentity } from '../aws/identity.ts'
import { createWorkload } from '../controllers/controlplane/workload.ts'
import { controllersOf } from '../controllers/index.ts'
import { serveManager } from '../runtime/serve.ts'
import { helpOf, settingsOf } from '../runtime/settings.ts'
import { manage } from './manage.ts'

const { env } = process
const outside = { awsToken: createIdentity({ env }).token, ...createWorkload(env) }

await manage({
  name: 'capt-manager',
  settingsOf,
  helpOf,
  timesOf: () => ({ drainMs: 25_000, hurryMs: 0 }), // a pod has 30 s
  serve: async (served) => serveManager({ ...served, controllers: controllersOf(served.settings, outside) }),
})
