import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { until } from '../../test/until.ts'
import { isAlive, processOf, thisMachine } from './life.ts'

test('a machine is the same as long as it is up', async () => {
  const machine = await thisMachine()
  expect(machine.host).not.toBe('')
  expect(machine.bootId).toMatch(/^[0-9a-f-]{36}$/)
  expect(await thisMachine()).toEqual(machine)
})

test('a process is alive until it has ended, and one that has its number later is another', async () => {
  // A name with brackets and blanks in it, as /proc writes it.
  const child = spawn(process.execPath, [
    '-e',
    'process.title = "a) Z 1 (b"; console.log(1); setInterval(() => {}, 1000)',
  ])
  await once(child.stdout, 'data')
  const { pid = 0 } = child
  const found = await processOf(pid)
  expect(found?.pid).toBe(pid)
  expect(found?.startTime).toMatch(/^\d{2,}$/)
  if (!found) return
  expect(await isAlive(found)).toBe(true)
  expect(await isAlive({ pid, startTime: '1' })).toBe(false)
  child.kill('SIGKILL')
  await once(child, 'exit')
  expect(await isAlive(found)).toBe(false)
})

test('a process that nobody buried has ended', async () => {
  // The shell goes on as a program that buries nobody.
  const shell = spawn('/bin/sh', ['-c', 'sleep 0 & echo $!; exec sleep 60'])
  try {
    const [line] = (await once(shell.stdout, 'data')) as [Buffer]
    const pid = Number(line.toString())
    expect(pid).toBeGreaterThan(1)
    await until('it has ended', async () => ((await processOf(pid)) ? undefined : true))
  } finally {
    shell.kill('SIGKILL')
  }
})

test('what never was is not alive', async () => {
  expect(await processOf(2 ** 30)).toBeUndefined()
  expect(await isAlive({ pid: 2 ** 30, startTime: '1' })).toBe(false)
})
