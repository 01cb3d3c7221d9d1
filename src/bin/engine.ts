#!/usr/bin/env node
// capt-engine: wiring only.
import { serveEngine } from '../engine/serve.ts'
import { engineHelp, engineSettingsOf, hurryMs } from '../engine/settings.ts'
import { manage } from './manage.ts'

await manage({
  name: 'capt-engine',
  settingsOf: engineSettingsOf,
  helpOf: engineHelp,
  timesOf: ({ drainMs }) => ({ drainMs, hurryMs }),
  serve: async (served) => serveEngine({ ...served, env: process.env }),
})
