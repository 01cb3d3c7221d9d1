#!/usr/bin/env node
// capt-engine: wiring only.
import { announce } from './announce.ts'

announce('capt-engine', 'the Terraform engine of CAPT, for people without Crossplane')
