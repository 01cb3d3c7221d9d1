// Three managers, of which one leads. Whatever befalls it, another goes on, and only who leads changes anything.
import { afterAll, beforeAll, expect, onTestFailed, test } from 'vitest'
import { leases } from '../../src/runtime/leadership.ts'
import { lendAudit } from '../bed/audit.ts'
import { theBed } from '../bed/story.ts'
import { type Company, type Life, leaseMs, startCompany } from '../company.ts'
import { until } from '../until.ts'

const bed = theBed()
let company: Company
beforeAll(async () => {
  company = await startCompany()
})
afterAll(async () => company?.end())

test('a leader that ends, one that is stopped and goes on, one that is killed: only who leads changes anything', {
  timeout: 300_000,
}, async () => {
  onTestFailed(async () => console.error(`the logs of the managers: ${await company.api.home.keepLogs()}`))

  const ended = await company.leader()
  await seeWrites(ended)
  const endedAt = Date.now()
  await ended.member.kill('SIGTERM')
  expect(ended.member.obituary()).toContain('ended with 0')
  const second = await company.leader()
  expect(second.credential).not.toBe(ended.credential)
  const [released, taken] = [(await heldAt(ended)).at(-1), (await heldAt(second)).at(0)]
  const handedOverMs = Number(taken) - Number(released)
  expect(handedOverMs).toBeLessThan(10_000)

  await seeWrites(second)
  await company.freeze(second)
  const third = await company.leader()
  expect(third.credential).not.toBe(second.credential)
  await seeWrites(third)
  const thawedAt = new Date()
  company.thaw(second)
  expect(await company.seeEnd(second)).toContain('ended with 1')
  const after = (await ofLife(second)).filter(({ at }) => at >= thawedAt)
  expect(after.filter(({ verb }) => verb === 'patch' || verb === 'create')).toEqual([])

  await third.member.kill('SIGKILL')
  const fourth = await company.leader()
  await seeComplaintTwice(fourth)
  await company.rest()
  await fourth.member.kill('SIGTERM')
  const counted = (await ofLife(fourth)).filter(
    ({ verb, resource, code }) => `${verb} ${resource} ${code}` === 'patch events 200',
  )
  expect(counted.length).toBeGreaterThan(0)

  const { judged, late, wrong } = await company.judge()
  await lendAudit(bed, company.api.auditLog, 'leaders')
  console.log(
    `handed over in ${handedOverMs} ms, ${Date.now() - endedAt} ms in all; ${judged} changes, ${late.length} late (lease ${leaseMs} ms)`,
  )
  expect(wrong).toEqual([])
  expect(judged).toBeGreaterThanOrEqual(12)
})

async function seeWrites(life: Life): Promise<void> {
  const look = async () => ((await statusesOf(life)).length >= 3 ? true : undefined)
  await until(`${life.member.name} changes something`, look, { withinSeconds: 60 })
}

// Then it has an Event that happened again, and counts it at the latest when it ends.
async function seeComplaintTwice(life: Life): Promise<void> {
  const look = async () => {
    const ofTemplates = Object.values(Object.groupBy(await statusesOf(life), ({ name }) => name))
    const isTwice = ofTemplates.some((all = []) => /(V+I+){2}/.test(all.map(({ reason }) => reason[0]).join('')))
    return isTwice ? true : undefined
  }
  await until(`${life.member.name} finds the same template wanting again`, look, { withinSeconds: 60 })
}

// What it said of templates: Valid or InvalidModule.
async function statusesOf(life: Life) {
  const all = (await ofLife(life)).filter(
    ({ resource, code }) => resource === 'workspacetemplates/status' && code === 200,
  )
  return all.map(({ name, body }) => {
    const { status } = body as { status: { conditions: { reason: string }[] } }
    return { name, reason: status.conditions[0]?.reason ?? '' }
  })
}

async function heldAt(life: Life): Promise<readonly Date[]> {
  const writes = (await ofLife(life)).filter(
    ({ resource, name, code }) => resource === 'leases' && name === leases['control-plane'] && code === 200,
  )
  return writes.map(({ at }) => at)
}

async function ofLife(life: Life) {
  return (await company.audit()).filter(({ credential }) => credential === life.credential)
}
