import fc from 'fast-check'
import { expect, test } from 'vitest'
import { distort, type Fault, type Step } from './fault.ts'

// However the wire cuts the text, the fault's effect is the same.
const texts = fc.array(
  fc.string({ unit: 'grapheme', maxLength: 30 }).map((line) => `${line.replaceAll('\n', ' ')}\n`),
  {
    maxLength: 12,
  },
)
const cuts = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 10 })

async function* chunked(text: Buffer, sizes: readonly number[]): AsyncGenerator<Buffer> {
  for (let at = 0, turn = 0; at < text.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1
    yield text.subarray(at, at + size)
    at += size
  }
}

async function distorted(lines: readonly string[], sizes: readonly number[], fault: Fault | undefined) {
  const steps: Step[] = []
  for await (const step of distort(chunked(Buffer.from(lines.join('')), sizes), fault)) steps.push(step)
  const sent = steps.flatMap((step) => ('send' in step ? [step.send] : []))
  const end = steps.at(-1)
  return { text: Buffer.concat(sent).toString(), sent, end: end && 'end' in end ? end.end : undefined }
}

async function holds(
  fault: Fault | undefined,
  check: (result: Awaited<ReturnType<typeof distorted>>, lines: readonly string[]) => void,
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(texts, cuts, async (lines, sizes) => check(await distorted(lines, sizes, fault), lines)),
  )
}

test.each<Fault | undefined>([
  undefined,
  { do: 'delay', ms: 1 },
  { do: 'merge', lines: 3 },
  { do: 'drip', bytes: 4, everyMs: 1 },
])('%o loses no byte', async (fault) => {
  await holds(fault, ({ text, end }, lines) => {
    expect(text).toBe(lines.join(''))
    expect(end).toBe('whole')
  })
})

test('a reset comes after exactly so many lines', async () => {
  await holds({ do: 'reset', after: { lines: 2 } }, ({ text, end }, lines) => {
    expect(text).toBe(lines.slice(0, 2).join(''))
    expect(end).toBe('reset')
  })
})

test('silence comes after exactly so many bytes', async () => {
  await holds({ do: 'silence', after: { bytes: 10 } }, ({ sent, end }, lines) => {
    expect(Buffer.concat(sent)).toEqual(Buffer.from(lines.join('')).subarray(0, 10))
    expect(end).toBe('silence')
  })
})

test('a truncated answer has whole lines, half a line, and a good end', async () => {
  await holds({ do: 'truncate', afterLines: 1 }, ({ sent, end }, lines) => {
    const half = Buffer.from(lines[1] ?? '')
    expect(Buffer.concat(sent)).toEqual(
      Buffer.concat([Buffer.from(lines[0] ?? ''), half.subarray(0, Math.ceil(half.length / 2))]),
    )
    expect(end).toBe('whole')
  })
})

test('merged lines come as so many at a time, glued ones without a newline between them', async () => {
  await holds({ do: 'merge', lines: 3 }, ({ sent }, lines) => {
    expect(sent).toHaveLength(Math.ceil(lines.length / 3))
  })
  await holds({ do: 'merge', lines: 3, glued: true }, ({ text }, lines) => {
    expect(text).toBe(lines.join('').replaceAll('\n', ''))
  })
})

test('an expired watch ends with the error that the API server would send', async () => {
  await holds({ do: 'expire', afterLines: 1 }, ({ text, end }, lines) => {
    const [last = ''] = text.trimEnd().split('\n').slice(-1)
    expect(JSON.parse(last)).toMatchObject({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } })
    expect(text.startsWith(lines[0] ?? '')).toBe(true)
    expect(end).toBe('whole')
  })
})

test('a drip is a few bytes at a time', async () => {
  await holds({ do: 'drip', bytes: 3, everyMs: 1 }, ({ sent }) => {
    for (const chunk of sent) expect(chunk.length).toBeLessThanOrEqual(3)
  })
})
