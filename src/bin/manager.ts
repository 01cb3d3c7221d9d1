#!/usr/bin/env node
// capt-manager: wiring only.
import { run } from './program.ts'

run({ name: 'capt-manager', summary: 'the controllers of CAPT, the Cluster API provider for Terraform' })
