import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { expect, onTestFinished, test } from 'vitest'
import { virtualClock } from '../../test/clock.ts'
import { type Certificate, selfSigned } from './certificate.ts'
import { startCertificateFiles } from './certificatefiles.ts'
import { createLog } from './log.ts'

const aPair = () => selfSigned(['localhost'], new Date())

function someFiles(first: Certificate = aPair()) {
  const folder = mkdtempSync(join(tmpdir(), 'capt-certificate-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const write = (file: 'tls.crt' | 'tls.key', text: string) => writeFileSync(join(folder, file), text)
  const writePair = ({ certificate, key }: Certificate) => {
    write('tls.crt', certificate)
    write('tls.key', key.open())
  }
  writePair(first)
  const clock = virtualClock()
  const to = new PassThrough()
  const renewals: string[] = []
  const start = () =>
    startCertificateFiles(folder, {
      clock,
      log: createLog({ to, level: 'info' }),
      renewed: ({ certificate }) => renewals.push(certificate),
    })
  return { folder, write, writePair, clock, renewals, start, told: () => String(to.read() ?? '') }
}

test('a pair that is renewed is in use within ten seconds, also when the files keep their time', async () => {
  const first = aPair()
  const { folder, writePair, clock, renewals, start, told } = someFiles(first)
  expect(start().first.certificate).toBe(first.certificate)
  await clock.advance(60_000)
  expect(renewals).toEqual([])
  const second = aPair()
  writePair(second)
  for (const file of ['tls.crt', 'tls.key']) utimesSync(join(folder, file), 0, 0)
  await clock.advance(10_000)
  expect(renewals).toEqual([second.certificate])
  expect(told()).toContain('the serving certificate was renewed')
})

test('a pair that is half written leaves the one before in use, and is told once', async () => {
  const { write, clock, renewals, start, told } = someFiles()
  start()
  const second = aPair()
  write('tls.crt', second.certificate)
  await clock.advance(60_000)
  expect(renewals).toEqual([])
  const lines = told().trimEnd().split('\n')
  expect(lines).toHaveLength(1)
  expect(lines[0]).toContain('is not the key of tls.crt')
  write('tls.key', second.key.open())
  await clock.advance(10_000)
  expect(renewals).toEqual([second.certificate])
})

test.each(['', 'no certificate', '-----BEGIN CERTIFICATE-----\nMIIB'])(
  'a file that says %j does not end the looking',
  async (text) => {
    const { write, writePair, clock, renewals, start, told } = someFiles()
    start()
    write('tls.crt', text)
    await clock.advance(10_000)
    expect(told()).toContain('the serving certificate cannot be renewed')
    const second = aPair()
    writePair(second)
    await clock.advance(10_000)
    expect(renewals).toEqual([second.certificate])
  },
)

test('who cannot use what is renewed is told, and asked again', async () => {
  const { folder, writePair, clock } = someFiles()
  const to = new PassThrough()
  let asked = 0
  startCertificateFiles(folder, {
    clock,
    log: createLog({ to, level: 'info' }),
    renewed() {
      asked++
      throw new Error('too weak')
    },
  })
  writePair(aPair())
  await clock.advance(30_000)
  expect(asked).toBe(3)
  expect(String(to.read()).match(/too weak/g)).toHaveLength(1)
})

test('trouble that comes again is told again', async () => {
  const first = aPair()
  const { write, clock, start, told } = someFiles(first)
  start()
  for (let time = 0; time < 2; time++) {
    write('tls.crt', '')
    await clock.advance(20_000)
    write('tls.crt', first.certificate)
    await clock.advance(10_000)
  }
  expect(told().match(/is empty/g)).toHaveLength(2)
})

test('without a whole pair it does not begin', () => {
  const { folder, write, start } = someFiles()
  write('tls.key', aPair().key.open())
  expect(start).toThrow(`tls.key in ${folder} is not the key of tls.crt`)
  rmSync(join(folder, 'tls.crt'))
  expect(start).toThrow(join(folder, 'tls.crt'))
})

test('stopped, it looks no more', async () => {
  const { writePair, clock, renewals, start } = someFiles()
  start().stop()
  writePair(aPair())
  await clock.advance(60_000)
  expect(renewals).toEqual([])
})
