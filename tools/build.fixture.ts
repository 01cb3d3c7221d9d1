// One run of the builder in a process of its own, on a workshop given by its arguments: for tests that kill it.
import { build } from './build.ts'
import { hello } from './hello.fixture.ts'

const [modules = '', cache = ''] = process.argv.slice(2)
const { hello: file } = await build(
  { hello },
  { modules, cache, ready: undefined },
  { say: console.log, show: () => {} },
)
console.log(file)
