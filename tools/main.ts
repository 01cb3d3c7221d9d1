// node tools/main.ts [quickstart]: builds the real parts that are missing and says where they are.
// With `quickstart`, only those that the quickstart runs.
import { parseArgs } from 'node:util'
import { build, type Voice } from './build.ts'
import { stopMaking } from './make.ts'
import { type Part, parts } from './parts.ts'
import { tell } from './progress.ts'
import { workshop } from './workshop.ts'

const secondsBetweenLines = 30

async function main(): Promise<void> {
  const { positionals } = parseArgs({ allowPositionals: true, options: {} })
  const [only] = positionals
  if (positionals.length > 1 || (only !== undefined && only !== 'quickstart')) {
    throw new Error(
      `unknown argument ${positionals.join(' ')}: say \`node tools/main.ts\` or \`node tools/main.ts quickstart\``,
    )
  }
  const wanted: Record<string, Part> = Object.fromEntries(
    Object.entries(parts).filter(([, part]) => only === undefined || part.quickstart),
  )
  const voice = process.stderr.isTTY ? terminalVoice() : plainVoice()
  const { ready, ...places } = workshop()
  const located = await build(wanted, { ready, ...places }, voice)
  const where = ready ? `${ready} and ${places.cache}` : places.cache
  voice.say(`real parts: all ${Object.keys(located).length} are ready in ${where}`)
}

// A line that is written over.
function terminalVoice(): Voice {
  const clear = '\r\u001b[2K'
  return {
    say: (line) => void process.stderr.write(`${clear}${line}\n`),
    show: (progress) =>
      void process.stderr.write(`${clear}${tell(progress)}`.slice(0, process.stderr.columns + clear.length)),
  }
}

// A line now and then: for logs.
function plainVoice(): Voice {
  let lastAt = Number.NEGATIVE_INFINITY
  let lastName = ''
  return {
    say: (line) => void process.stderr.write(`${line}\n`),
    show: (progress) => {
      if (progress.name === lastName && progress.elapsedSeconds - lastAt < secondsBetweenLines) return
      lastAt = progress.elapsedSeconds
      lastName = progress.name
      process.stderr.write(`${tell(progress)}\n`)
    },
  }
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    stopMaking()
    process.stderr.write('\nstopped; the next run goes on where this one was\n')
    process.exit(signal === 'SIGINT' ? 130 : 143)
  })
}

main().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
})
