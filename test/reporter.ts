// Ends every run with the line `N passed, N failed`, after everything else that is printed.
import type { Reporter, TestModule, TestRunEndReason } from 'vitest/node'

export default class Tally implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[], reason: TestRunEndReason): void {
    const count = { passed: 0, failed: unhandledErrors.length, skipped: 0, pending: 0 }
    for (const module of modules) {
      count.failed += module.errors().length // did not load, or a hook failed
      for (const test of module.children.allTests()) count[test.result().state]++
    }
    if (reason === 'failed' && count.failed === 0) count.failed = 1 // the set-up of the run failed
    const skipped = count.skipped + count.pending
    const line = `${count.passed} passed, ${count.failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
    process.once('exit', () => process.stdout.write(`${line}\n`))
  }
}
