import { expect, test } from 'vitest'
import { aCA, anotherCA, base64 } from '../../test/pki.ts'
import { readCertificates } from './certificate.ts'

const broken = aCA.replace(/\n.{8}/, '\nAAAAAAAA')
const windows = aCA.replaceAll('\n', '\r\n')

test.each<[string, string, string | undefined]>([
  ['PEM', aCA, aCA],
  ['PEM in base64, as EKS has it', base64(aCA), aCA],
  ['PEM in base64 with line breaks', base64(aCA).replaceAll(/.{76}/g, '$&\n'), aCA],
  ['PEM without its last line break', aCA.trimEnd(), aCA],
  ['two certificates', aCA + anotherCA, aCA + anotherCA],
  ['two certificates with words between them', `# old\n${aCA}\n# new\n${anotherCA}`, aCA + anotherCA],
  ['two certificates in base64', base64(aCA + anotherCA), aCA + anotherCA],
  ['nothing', '', undefined],
  ['words', 'not known yet', undefined],
  ['base64 of words', base64('not known yet'), undefined],
  ['base64 twice', base64(base64(aCA)), undefined],
  ['a key', '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n', undefined],
  ['a broken certificate', broken, undefined],
  ['a broken certificate after a good one', aCA + broken, undefined],
  ['half a certificate', aCA.slice(0, 200), undefined],
])('%s', (_, text, pem) => {
  expect(readCertificates(text)).toBe(pem)
})

test('line breaks of Windows do no harm', () => {
  expect(readCertificates(windows)?.replaceAll('\r', '')).toBe(aCA)
})
