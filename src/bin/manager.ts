#!/usr/bin/env node
import { nowhere } from '../controllers/controlplane/outside.ts'
import { createWorkload } from '../controllers/controlplane/workload.ts'
// capt-manager: wiring only.
import { controllersOf } from '../controllers/index.ts'
import { serveManager } from '../runtime/serve.ts'
import { helpOf, settingsOf } from '../runtime/settings.ts'
import { manage } from './manage.ts'

const outside = { ...nowhere, ...createWorkload(process.env) }

await manage({
  name: 'capt-manager',
  settingsOf,
  helpOf,
  timesOf: () => ({ drainMs: 25_000, hurryMs: 0 }), // a pod has 30 s
  serve: async (served) => serveManager({ ...served, controllers: controllersOf(served.settings, outside) }),
})
