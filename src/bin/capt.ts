#!/usr/bin/env node
// capt: wiring only.
import { run } from './program.ts'

run({ name: 'capt', summary: 'the command line of CAPT' })
