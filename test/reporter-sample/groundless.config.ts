import { defineConfig } from 'vitest/config'

// A run whose set-up fails.
export default defineConfig({
  test: { include: ['mixed.case.ts'], reporters: ['../reporter.ts'], globalSetup: './broken.case.ts' },
})
