import { mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { virtualClock } from '../../test/clock.ts'
import { aFolder } from '../../test/folder.ts'
import { trackFile } from './file.ts'

const longAgo = new Date(1e12)

function aFile(text: string) {
  const path = join(aFolder(), 'token')
  const clock = virtualClock()
  // In place and with the same time: nothing but the text and its length tells a change.
  const write = (next: string) => {
    writeFileSync(path, next)
    utimesSync(path, longAgo, longAgo)
  }
  write(text)
  return { path, clock, write, file: trackFile(path, 'the token of demo', clock.now) }
}

test('the text comes without the white space around it', () => {
  expect(aFile(' one\n').file.text()).toBe('one')
})

test('a change of the file is seen at once', () => {
  const { file, write, path } = aFile('one')
  expect(file.text()).toBe('one')
  write('longer')
  expect(file.text()).toBe('longer')
  writeFileSync(path, 'newer!')
  expect(file.text()).toBe('newer!')
})

test('a change that the file does not betray is seen after a minute, and not before: it is not read each time', async () => {
  const { file, write, clock } = aFile('one')
  expect(file.text()).toBe('one')
  write('two')
  await clock.advance(59_999)
  expect(file.text()).toBe('one')
  await clock.advance(1)
  expect(file.text()).toBe('two')
})

test('who forgets reads anew', () => {
  const { file, write } = aFile('one')
  file.text()
  write('two')
  file.forget()
  expect(file.text()).toBe('two')
})

test('the kubelet swaps a link to a folder, and that is a change', () => {
  const folder = aFolder()
  for (const name of ['old', 'new']) {
    mkdirSync(join(folder, name))
    writeFileSync(join(folder, name, 'token'), name)
    utimesSync(join(folder, name, 'token'), longAgo, longAgo)
  }
  symlinkSync('old', join(folder, '..data'))
  symlinkSync('..data/token', join(folder, 'token'))
  const file = trackFile(join(folder, 'token'), 'the token', () => 0)
  expect(file.text()).toBe('old')
  symlinkSync('new', join(folder, '..next'))
  renameSync(join(folder, '..next'), join(folder, '..data'))
  expect(file.text()).toBe('new')
})

test('a file that is away or empty for a moment does no harm to who has read it, unless that was refused', () => {
  const { file, write, path } = aFile('one')
  file.text()
  write('')
  expect(file.text()).toBe('one')
  rmSync(path)
  expect(file.text()).toBe('one')
  file.forget()
  expect(() => file.text()).toThrow(`cannot read the token of demo: ENOENT: no such file or directory, stat '${path}'`)
  write(' \n')
  expect(() => file.text()).toThrow(new Error(`cannot read the token of demo: ${path} is empty`))
  write('two')
  expect(file.text()).toBe('two')
})
