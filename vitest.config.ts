import { defineConfig } from 'vitest/config'

// Least powerful first: `unit` needs nothing, `stories` needs the bed, which is started once for all of them, `last` judges
// what the stories have left on it.
export default defineConfig({
  test: {
    isolate: false,
    setupFiles: ['./test/seed.ts'],
    testTimeout: 60_000, // a tool that a test starts shares two cores with the bed
    maxWorkers: 5, // stories wait more than they work
    reporters: ['default', './test/reporter.ts'],
    projects: [
      { extends: true, test: { name: 'unit', include: ['{src,tools,scripts,test}/**/*.test.ts'] } },
      {
        extends: true,
        test: {
          name: 'stories',
          include: ['{src,tools,scripts,test}/**/*.story.ts'],
          globalSetup: './test/bed/shared.ts',
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        extends: true,
        test: { name: 'last', include: ['test/**/*.last.ts'], sequence: { groupOrder: 1 } },
      },
    ],
  },
})
