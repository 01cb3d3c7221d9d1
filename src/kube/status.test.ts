import { expect, test } from 'vitest'
import { isAlreadyThere, isConflict, isExpired, isNotFound, isNotServed } from './errors.ts'
import { refusal } from './status.ts'

const resource = { plural: 'workspaces' }
const status = (code: number, reason: string, details?: object) => ({
  kind: 'Status',
  code,
  reason,
  message: `because of ${reason}`,
  ...(details && { details }),
})
const asked = (code: number, body: unknown, retryAfter?: string) =>
  refusal({ doing: 'read Workspace default/demo', code, body, resource, retryAfter })

test('an error is a sentence', () => {
  expect(asked(403, status(403, 'Forbidden')).message).toBe(
    'cannot read Workspace default/demo: 403 because of Forbidden',
  )
})

test.each<[string, unknown, string]>([
  ['the object is not there', status(404, 'NotFound', { kind: 'workspaces', name: 'demo' }), 'isNotFound'],
  ['its namespace is not there', status(404, 'NotFound', { kind: 'namespaces', name: 'demo' }), ''],
  ['the kind is not served', status(404, 'NotFound', {}), 'isNotServed'],
  ['the group is not served', '404 page not found\n', 'isNotServed'],
  ['a page of a proxy', '<html>404</html>', ''],
  ['it was changed meanwhile', status(409, 'Conflict', { kind: 'workspaces', name: 'demo' }), 'isConflict'],
  ['it is there already', status(409, 'AlreadyExists', { kind: 'workspaces', name: 'demo' }), 'isAlreadyThere'],
  ['the resource version is too old', status(410, 'Expired'), 'isExpired'],
])('%s', (_, body, known) => {
  const error = asked((body as { code?: number }).code ?? 404, body)
  const all = {
    isNotFound: isNotFound(error, 'demo'),
    isNotServed: isNotServed(error),
    isConflict: isConflict(error),
    isAlreadyThere: isAlreadyThere(error),
    isExpired: isExpired(error),
  }
  const which = Object.entries(all).filter(([, is]) => is)
  expect(which.map(([name]) => name).join()).toBe(known)
})

test('what is not the API server’s own word is not repeated, for it may be a whole page', () => {
  const { message } = asked(502, '<html>')
  expect(message).toContain('502')
  expect(message).toContain('proxy')
  expect(message).not.toContain('<html>')
})

test.each<[string, unknown, string | undefined, number | undefined]>([
  ['the header', status(429, 'TooManyRequests'), '7', 7],
  ['the status', status(429, 'TooManyRequests', { retryAfterSeconds: 3 }), '7', 3],
  ['nobody', status(429, 'TooManyRequests'), undefined, undefined],
  ['a date, which we do not read', status(429, 'TooManyRequests'), 'Mon, 16 Nov 2026 15:00:00 GMT', undefined],
])('when to come again is said by %s', (_, body, header, seconds) => {
  expect(asked(429, body, header).retryAfterSeconds).toBe(seconds)
})
