#!/usr/bin/env node
// capt-manager: wiring only.
import { controllersOf } from '../controllers/index.ts'
import { manage } from './manage.ts'

await manage(controllersOf)
