import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  anyText,
  type Declare,
  duration,
  flagsOf,
  oneOf,
  readFlags,
  tellFlags,
  UsageError,
  wholeNumber,
} from './flags.ts'

const declare = (flag: Declare) => ({
  isLoud: flag.switch('loud', 'Be loud.'),
  name: flag.one('name', anyText, 'nobody', 'Who it is.', 'called', 'n'),
  count: flag.one('v', wholeNumber(0), '2', 'How much.'),
  waitMs: flag.one('wait', duration, '10m0s', 'How long.'),
  colours: flag.many('colour', oneOf('red', 'green', 'blue'), ['red'], 'Which.'),
})
const ignored = [{ names: ['gone', 'old-*', '*-age'], why: 'it is gone' }]
const read = (...argv: string[]) => readFlags(argv, declare, ignored)
const usual = { isLoud: false, name: 'nobody', count: 2, waitMs: 600_000, colours: ['red'] }

test.each<[string[], object]>([
  [[], {}],
  [['--loud'], { isLoud: true }],
  [['-loud'], { isLoud: true }],
  [['--loud=true'], { isLoud: true }],
  [['--loud=1'], { isLoud: true }],
  [['--loud', '--loud=false'], { isLoud: false }],
  [['--loud=F'], { isLoud: false }],
  [['--name', 'ann'], { name: 'ann' }],
  [['--name=ann=b'], { name: 'ann=b' }],
  [['--name='], { name: '' }],
  [['--name', '-5'], { name: '-5' }],
  [['-name', 'ann', '--loud'], { name: 'ann', isLoud: true }],
  [['--called=ann'], { name: 'ann' }],
  [['--called=ann', '--name=ben'], { name: 'ben' }],
  [['--name=line\nbreak'], { name: 'line\nbreak' }],
  [['-v', '4'], { count: 4 }],
  [['-v=4'], { count: 4 }],
  [['--v', '4', '--v=5'], { count: 5 }],
  [['--colour=red,blue', '--colour', 'green'], { colours: ['red', 'blue', 'green'] }],
  [['--colour='], { colours: [] }],
])('%j is read', (argv, differences) => {
  expect(read(...argv)).toEqual({ settings: { ...usual, ...differences }, warnings: [] })
})

test.each<[string[], string]>([
  [['--naem=x'], 'there is no flag --naem, did you mean --name? (see --help)'],
  [['--colours=x'], 'there is no flag --colours, did you mean --colour? (see --help)'],
  [['--calld=x'], 'there is no flag --calld, did you mean --called? (see --help)'],
  [['--something-else'], 'there is no flag --something-else (see --help)'],
  [['--constructor'], 'there is no flag --constructor (see --help)'],
  [['--name'], '--name needs a value: text'],
  [['--loud', 'false'], 'unexpected argument "false": write values as --flag=value'],
  [['--'], 'unexpected argument "--": write values as --flag=value'],
  [['--loud=perhaps'], '--loud: "perhaps" is neither true nor false'],
  [['-v', 'x'], '--v: "x" is no whole number from 0 on'],
  [['-v=-1'], '--v: "-1" is no whole number from 0 on'],
  [['--wait=10'], '--wait: "10" is no duration: write it like 1h30m, 10m0s or 500ms'],
  [['--colour=red,pink'], '--colour: "pink" is none of red, green, blue'],
])('%j is refused', (argv, why) => {
  expect(() => read(...argv)).toThrow(new UsageError(why))
})

test('what is wrong with a command line ends a program with 2', () => {
  expect(new UsageError('x').exitCode).toBe(2)
})

test.each<[string[]]>([[['--old-port=9', '--loud']], [['--old-port', '9', '--loud']], [['-old-port', '--loud']]])(
  'a flag of others is let pass with its value, and told: %j',
  (argv) => {
    expect(read(...argv)).toEqual({
      settings: { ...usual, isLoud: true },
      warnings: ['--old-port does nothing here: it is gone'],
    })
  },
)

test('a star in the name of such a flag stands for anything, and only a star', () => {
  expect(read('--gone', '--some-age=3').warnings).toHaveLength(2)
  for (const other of ['--gone-by', '--some-ages', '--cold-x']) expect(() => read(other)).toThrow('there is no flag')
})

test.each([
  ['10m0s', 600_000],
  ['1h30m', 5_400_000],
  ['500ms', 500],
  ['1.5h', 5_400_000],
  ['.5s', 500],
  ['2µs', 0.002],
  ['1ms1s', 1001],
])('%s is a duration', (text, ms) => {
  expect(duration.read(text)).toBe(ms)
})

test.each(['', '0s', '0', '-1s', '1', '1d', 's', '1 s', '1s ', 'x1s', '1s2', '1m30', '١s'])('%j is none', (text) => {
  expect(() => duration.read(text)).toThrow('is no duration')
})

test('a duration as Go prints it is read back', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1e9 }), (ms) => {
      const [h, m, s] = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60, (ms % 60_000) / 1000]
      expect(duration.read(`${h}h${m}m${s}s`)).toBeCloseTo(ms, 3)
    }),
  )
})

test('any spelling of a value gives that value', () => {
  fc.assert(
    fc.property(
      fc.string(),
      fc.constantFrom('-', '--'),
      fc.constantFrom('name', 'called', 'n'),
      (value, dash, name) => {
        expect(read(`${dash}${name}=${value}`).settings.name).toBe(value)
        expect(read(`${dash}${name}`, value).settings.name).toBe(value)
      },
    ),
  )
})

test('whatever the command line is, it is read or refused with a sentence', () => {
  const words = fc.oneof(fc.constantFrom('--name', '-v', '--loud', '--colour', '=', '--old-x', '4', 'red'), fc.string())
  fc.assert(
    fc.property(fc.array(words), (argv) => {
      const outcome = attempt(() => read(...argv))
      expect(outcome === undefined || outcome instanceof UsageError).toBe(true)
    }),
  )
})

function attempt(what: () => unknown): unknown {
  try {
    what()
    return undefined
  } catch (error) {
    return error
  }
}

test('the help says each flag once, with its aliases, what it takes and what it usually is', () => {
  expect(tellFlags(flagsOf(declare))).toBe(`  --loud
        Be loud.
  --name, --called, --n text
        Who it is. (default nobody)
  --v number
        How much. (default 2)
  --wait duration
        How long. (default 10m0s)
  --colour red|green|blue,…
        Which. (default red)
`)
})
