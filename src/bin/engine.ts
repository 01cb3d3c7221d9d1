#!/usr/bin/env node
// capt-engine: wiring only.
import { run } from './program.ts'

run({ name: 'capt-engine', summary: 'the Terraform engine of CAPT, for people without Crossplane' })
