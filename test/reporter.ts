// Ends every run with the line `N passed, N failed`, after everything else that is printed.
import type { Reporter, TestModule } from 'vitest/node'

export default class Tally implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const line = tally(modules, unhandledErrors.length)
    process.once('exit', () => process.stdout.write(`${line}\n`))
  }
}

function tally(modules: readonly TestModule[], unhandledErrors: number): string {
  const count = { passed: 0, failed: unhandledErrors, skipped: 0, pending: 0 }
  for (const module of modules) {
    count.failed += module.errors().length // did not load, or a hook failed
    for (const test of module.children.allTests()) count[test.result().state]++
  }
  const skipped = count.skipped + count.pending
  return `${count.passed} passed, ${count.failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
}
