import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    setupFiles: ['./test/seed.ts'],
    include: ['{src,tools,scripts,test}/**/*.soak.ts'],
    reporters: ['verbose', './test/reporter.ts'],
    testTimeout: 1_800_000,
  },
})
