#!/usr/bin/env node
// capt: wiring only. Commands are loaded when they are called.
import about from '../../package.json' with { type: 'json' }
import { runCommand } from '../cli/commands.ts'

process.exitCode = await runCommand({
  version: about.version,
  argv: process.argv.slice(2),
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  async tree(cluster, options) {
    const { runTree } = await import('../cli/runtree.ts')
    return runTree(cluster, options, process)
  },
  state: {
    async list(apply, options) {
      const { runStateList } = await import('../cli/runstate.ts')
      return runStateList(apply, options, process)
    },
    async export(apply, options) {
      const { runStateExport } = await import('../cli/runstate.ts')
      return runStateExport(apply, options, process)
    },
    async restore(apply, options) {
      const { runStateRestore } = await import('../cli/runstate.ts')
      return runStateRestore(apply, options, process)
    },
  },
  async cleanUpMoved(options) {
    const { runCleanUpMoved } = await import('../cli/runcleanup.ts')
    return runCleanUpMoved(options, process)
  },
})
