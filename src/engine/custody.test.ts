import { expect, test } from 'vitest'
import { objectsInMemory } from '../../test/objects.ts'
import { annotations } from '../api/keys.ts'
import { Lease } from '../api/neighbours.ts'
import { type Workspace, workspaceAPIs } from '../api/workspace.ts'
import type { Log } from '../runtime/log.ts'
import { type Custody, createCustody } from './custody.ts'
import type { Folder } from './folders.ts'
import { createRecords } from './records.ts'
import type { Ran } from './terraform.ts'

const silent: Log = { error() {}, warn() {}, info() {}, debug() {}, with: () => silent, setLevel() {} }
const id = '0183a0c7-89dc-65ec-00e5-393aca4658bd'
const worked: Ran = { code: 0, out: '', err: '', ended: 'byItself' }
const killed: Ran = { ...worked, code: 137 }
const refused = (created: string): Ran => ({
  ...worked,
  code: 1,
  err: `\nError: Error acquiring the state lock\n\nLock Info:\n  ID:        ${id}\n  Operation: OperationTypeApply\n  Who:       capt@here\n  Created:   ${created}\n`,
})

// One Workspace, its folder, and the lives of an engine over it, a minute after each other.
function aWorld(notes: Readonly<Record<string, string>> = {}) {
  let minutes = 0
  const date = () => new Date(Date.UTC(2026, 10, 16, 12, minutes))
  const objects = objectsInMemory(date)
  const { client } = objects
  const workspace: Workspace = {
    apiVersion: 'tf.m.upbound.io/v1beta1',
    kind: 'Workspace',
    metadata: { name: 'demo', namespace: 'team', uid: 'u', annotations: notes },
    spec: { forProvider: { source: 'Inline', module: '' } },
  }
  const whose = { api: workspaceAPIs['tf.m.upbound.io'], workspace }
  let [note, printed, left]: [string | undefined, string, string | undefined] = [undefined, '', undefined]
  const folder: Folder = {
    folder: '/nowhere',
    env: {},
    workspace: 'team.demo',
    args: { init: [], plan: [], apply: [], destroy: [] },
    checksum: '',
    isInitialised: true,
    noteInitialised: async () => {},
    dropPlan: async () => {},
    leftState: async () => left,
    cutOff: async (startedAt) => (note === startedAt ? printed : undefined),
    async noteRun(startedAt, text = '') {
      ;[note, printed] = [startedAt, text]
    },
  }
  const unlocked: string[] = []
  const aLife = (): Custody =>
    createCustody({
      client,
      namespace: 'states',
      records: createRecords({ client, namespace: 'states', date }),
      terraform: {
        family: 'tofu',
        version: '1.12.6',
        async unlock(_, lock) {
          unlocked.push(lock)
          return worked
        },
      },
      machine: { host: 'here', bootId: 'boot' },
      ownEnv: {},
      date,
      log: silent,
    })
  const begin = async (life: Custody) => {
    const kept = await life.look(whose, folder)
    await life.begin(whose, folder, kept, { operation: 'apply', revision: 'r', creates: ['a.a'] })
    return kept
  }
  // An apply from its beginning to its end, which comes so, one answer for each time it is run.
  const apply = async (life: Custody, ...ends: readonly Ran[]) => {
    const kept = await begin(life)
    const answers = [...ends]
    const ran = await life.unlocked(whose, folder, kept, async () => {
      const end = answers.shift() ?? worked
      if (end.code > 2) printed = 'a.a: Creating...\n'
      return end
    })
    await life.settle(whose, folder, kept, ran)
    return { ran, times: ends.length - answers.length }
  }
  return {
    objects,
    whose,
    folder,
    unlocked,
    aLife,
    begin,
    apply,
    now: () => date().toISOString(),
    pass: () => void minutes++,
    leave: (state: string) => {
      left = state
    },
    print: (text: string) => {
      printed = text
    },
  }
}

test('the lock that an earlier life left is released before the next apply, which then runs', async () => {
  const { aLife, begin, apply, now, pass, print, unlocked, whose } = aWorld()
  await begin(aLife())
  print('a.a: Creating...\n')
  const lock = refused(now())
  pass()
  const life = aLife()
  expect(await apply(life, lock, worked)).toEqual({ ran: worked, times: 2 })
  expect(unlocked).toEqual([id])
  expect((await life.recall(whose)).run).toBeUndefined()
})

test('also when the life between the two was killed before it met the lock', async () => {
  const { aLife, begin, apply, now, pass, print, unlocked } = aWorld()
  await begin(aLife())
  print('a.a: Creating...\n')
  const lock = refused(now())
  pass()
  await begin(aLife())
  pass()
  expect((await apply(aLife(), lock, worked)).times).toBe(2)
  expect(unlocked).toEqual([id])
})

test('the lock that was left while a destroyed one was forgotten is released', async () => {
  const { aLife, now, pass, whose, folder, unlocked } = aWorld()
  const life = aLife()
  const destroy = { operation: 'destroy', revision: 'r', creates: [] } as const
  const kept = await life.look(whose, folder)
  await life.begin(whose, folder, kept, destroy)
  await life.settle(whose, folder, kept, worked)
  const lock = refused(now())
  pass()
  const next = aLife()
  const again = await next.look(whose, folder)
  await next.begin(whose, folder, again, destroy)
  const answers = [lock, worked]
  expect(await next.unlocked(whose, folder, again, async () => answers.shift() ?? worked)).toEqual(worked)
  expect(unlocked).toEqual([id])
})

test('the lock that a command of this life left when it was killed is released', async () => {
  const { aLife, apply, now, pass, unlocked } = aWorld()
  const life = aLife()
  pass()
  const lock = refused(now())
  await apply(life, killed)
  pass()
  expect((await apply(life, lock, worked)).times).toBe(2)
  expect(unlocked).toEqual([id])
})

test('the lock that a run of this life could not release, because the API server was away, is released', async () => {
  const { aLife, apply, now, pass, unlocked } = aWorld()
  const life = aLife()
  pass()
  const lock = refused(now())
  await apply(life, { ...worked, code: 1, err: 'Error: Error releasing the state lock\n' })
  pass()
  expect((await apply(life, lock, worked)).times).toBe(2)
  expect(unlocked).toEqual([id])
})

test('a lock that somebody took on the same machine meanwhile is not, and what the killed apply began is still known', async () => {
  const { aLife, apply, now, pass, unlocked, whose, folder } = aWorld({ [annotations.apply]: 'team/demo' })
  const life = aLife()
  pass()
  await apply(life, killed)
  const before = await life.look(whose, folder)
  expect(before).toMatchObject({ memory: { run: { creates: ['a.a'] } }, printed: 'a.a: Creating...\n' })
  pass()
  const { ran, times } = await apply(life, refused(now()))
  expect([times, unlocked]).toEqual([1, []])
  expect(ran.err).toMatch(
    /^Error: the state is already locked by capt@here since .*: wait for it to end, or, if it never will, release it with: kubectl annotate workspacetemplateapply demo --namespace team --overwrite capt\.appthrust\.io\/unlock=0183a0c7/,
  )
  expect(await life.look(whose, folder)).toEqual(before)
})

test('a lock that somebody took before is not, and then no run is noted', async () => {
  const { aLife, apply, now, pass, whose } = aWorld()
  const lock = refused(now())
  pass()
  const life = aLife()
  expect((await apply(life, lock)).times).toBe(1)
  expect((await life.recall(whose)).run).toBeUndefined()
})

// As a command says it whose state cannot even be begun.
const notBegun = (created: string): Ran => ({
  ...worked,
  code: 1,
  err: `\nError: error loading state: the state is already locked by another tofu client\nLock Info:\n  ID:        ${id}\n  Operation: init\n  Who:       capt@here\n  Created:   ${created}\n`,
})

test.each<[string, 'before' | 'after', number]>([
  ['is released, where it is', 'before', 2],
  ['is not, when it was taken in this life', 'after', 1],
])('a lock under which a state was to be begun %s', async (_, when, times) => {
  const { aLife, now, pass, whose, folder, objects, unlocked } = aWorld()
  const key = { namespace: 'states', name: 'lock-tfstate-default-capt' }
  const lease = (name: string, holderIdentity: string): Lease => ({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { ...key, name, labels: { tfstate: 'true' }, annotations: { 'app.terraform.io/lock-info': '{}' } },
    spec: { holderIdentity },
  })
  objects.put(Lease, lease(key.name, id))
  objects.put(Lease, lease('lock-tfstate-other-capt', 'another'))
  const before = aLife()
  pass()
  const ran = notBegun(now())
  pass()
  const life = when === 'before' ? aLife() : before
  let count = 0
  const answers = [ran, worked]
  await life.unlocked(whose, folder, undefined, async () => answers[count++] ?? worked)
  expect([count, unlocked]).toEqual([times, []])
  const left = objects.get(Lease, key)
  expect(left?.spec?.holderIdentity).toBe(when === 'before' ? undefined : id)
  expect(left?.metadata.annotations).toEqual(when === 'before' ? {} : { 'app.terraform.io/lock-info': '{}' })
  expect(objects.get(Lease, { ...key, name: 'lock-tfstate-other-capt' })?.spec?.holderIdentity).toBe('another')
})

test('whatever lock it is, the word of a user releases it', async () => {
  const { aLife, apply, now, unlocked } = aWorld({ [annotations.unlock]: id })
  expect((await apply(aLife(), refused(now()), worked)).times).toBe(2)
  expect(unlocked).toEqual([id])
})

test.each<[string, Ran, boolean]>([
  ['worked', worked, true],
  ['failed', { ...worked, code: 1, err: 'Error: no quota' }, true],
  ['was killed', killed, false],
  ['crashed', { ...worked, code: 11 }, false],
])('an apply that %s', async (_, ran, hasEnded) => {
  const { aLife, apply, whose } = aWorld()
  const life = aLife()
  await apply(life, ran)
  expect((await life.recall(whose)).run === undefined).toBe(hasEnded)
})

test('an apply that left its state in the folder has not ended', async () => {
  const { aLife, apply, whose, leave } = aWorld()
  const life = aLife()
  leave('{}')
  await apply(life, { ...worked, code: 1 })
  expect((await life.recall(whose)).run).toBeDefined()
})

test('when a killed apply has made all there was to make, its lock is released before it is forgotten', async () => {
  const { aLife, apply, now, pass, whose, folder, unlocked, objects } = aWorld()
  const life = aLife()
  pass()
  await apply(life, killed)
  const key = { namespace: 'states', name: 'tfstate-team.demo-capt' }
  const lockedSince = (Created: string) => {
    const info = { ID: id, Operation: 'OperationTypeApply', Who: 'capt@here', Created }
    const notes = { 'app.terraform.io/lock-info': JSON.stringify(info) }
    const metadata = { ...key, name: `lock-${key.name}`, labels: { tfstate: 'true' }, annotations: notes }
    const lease: Lease = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata,
      spec: { holderIdentity: id },
    }
    objects.put(Lease, lease)
  }
  const killedAt = now()
  pass()
  const kept = { ...(await life.look(whose, folder)), key }
  lockedSince(now()) // somebody's, on the same machine
  await life.converged(whose, folder, kept)
  expect([unlocked, (await life.recall(whose)).run]).toEqual([[], undefined])
  lockedSince(killedAt)
  await life.converged(whose, folder, kept)
  expect(unlocked).toEqual([id])
})

test('a run that another machine had noted stays as unknown as it was when a lock keeps the next from beginning', async () => {
  const { aLife, apply, begin, now, pass, whose, folder } = aWorld()
  await begin(aLife())
  await folder.noteRun('another folder')
  pass()
  const life = aLife()
  const before = await life.look(whose, folder)
  expect(before).toMatchObject({ memory: { run: { creates: ['a.a'] } }, printed: undefined })
  pass()
  await apply(life, refused(now()))
  expect(await life.look(whose, folder)).toEqual(before)
})
