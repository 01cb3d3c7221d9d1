#!/usr/bin/env node
// capt-manager: wiring only.
import { controllers } from '../controllers/index.ts'
import { manage } from './manage.ts'

await manage(controllers)
