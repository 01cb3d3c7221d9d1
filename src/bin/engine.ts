#!/usr/bin/env node
// capt-engine: wiring only.
import { serveEngine } from '../engine/serve.ts'
import { engineHelp, engineSettingsOf } from '../engine/settings.ts'
import { manage } from './manage.ts'

await manage({
  name: 'capt-engine',
  endWithinMs: 94 * 60_000, // a run may take 90 minutes, and its pod has 95
  settingsOf: engineSettingsOf,
  helpOf: engineHelp,
  serve: async (served) => serveEngine({ ...served, env: process.env }),
})
