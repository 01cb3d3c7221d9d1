#!/usr/bin/env node
// capt: wiring only.
import { announce } from './announce.ts'

announce('capt', 'the command line of CAPT')
