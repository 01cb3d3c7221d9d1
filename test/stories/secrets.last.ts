// After all other stories: nothing secret is in anything that people see who may not read Secrets, be it log, event, condition,
// metric or Workspace. The audit log has every write of the whole run with its body, but for those of Secrets.
import { readFile } from 'node:fs/promises'
import { expect, inject, test } from 'vitest'
import { lentAudits } from '../bed/audit.ts'
import { bedAws } from '../bed/manager.ts'
import { secretMark } from '../bed/secretmark.ts'

const bed = inject('bed') as ReturnType<typeof inject<'bed'>> | undefined // there is none when no story runs

// A piece of text as base64 has it, wherever in a longer text it begins.
function encodings(text: string): readonly string[] {
  return [0, 1, 2].map((before) => {
    const encoded = Buffer.from(`${'x'.repeat(before)}${text}`).toString('base64')
    return encoded.slice(Math.ceil((before * 4) / 3) + (before ? 1 : 0), -4)
  })
}

const marks = [secretMark, bedAws.secretAccessKey].flatMap((each) => [each, ...encodings(each)])
const shapes = [
  /k8s-aws-v1\.[\w-]{40,}/, // a token for EKS
  /X-Amz-Signature/,
  /eyJhbGciOi[\w-]{20,}\.[\w-]{20,}\.[\w-]{20,}/, // a token of a ServiceAccount
  /PRIVATE KEY-----/,
]

// What stands before each.
function secretsIn(text: string): readonly string[] {
  const places = [...marks.map((mark) => text.indexOf(mark)), ...shapes.map((shape) => text.search(shape))]
  return places.filter((at) => at >= 0).map((at) => text.slice(Math.max(0, at - 200), at))
}

test('a secret would be found, however it is written', () => {
  const token = `${secretMark}0123456789abcdef`
  for (const text of [token, ...['', 'a', 'ab'].map((before) => Buffer.from(`${before}${token}`).toString('base64'))])
    expect(secretsIn(`before ${text} after`)).toHaveLength(1)
  expect(secretsIn('nothing of the kind')).toEqual([])
})

test.skipIf(!bed)('nobody sees a secret who may not read Secrets', async () => {
  if (!bed) return
  const logs = [bed.manager?.log, bed.engine?.log].filter((each) => each !== undefined)
  for (const file of [...logs, bed.auditLog, ...(await lentAudits(bed))])
    expect({ file, found: secretsIn(await readFile(file, 'utf8')) }).toEqual({ file, found: [] })
})
