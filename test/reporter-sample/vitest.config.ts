import { defineConfig } from 'vitest/config'

// A run with one of everything, for the test of the reporter.
export default defineConfig({ test: { include: ['*.case.ts'], reporters: ['../reporter.ts'] } })
