// An engine that must end while it applies: what was made is in the state, the lock is free, and the next one goes on from there.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { lendAudit } from '../bed/audit.ts'
import { engineKubeconfig } from '../bed/engine.ts'
import { type FaultProxy, startFaultProxy } from '../bed/faults/proxy.ts'
import { type ManagerProcess, readLog } from '../bed/manager.ts'
import { type OwnEngines, startOwnEngines } from '../bed/own-engines.ts'
import { theBed } from '../bed/story.ts'
import { aWorkspace } from '../given.ts'
import { conditionOf, lockHolder, patience, seeConverged } from '../lives.ts'
import { until } from '../until.ts'

const namespace = 'default'
let own: OwnEngines
let proxy: FaultProxy
beforeAll(async () => {
  own = await startOwnEngines('ending')
  proxy = await startFaultProxy(own)
}, 300_000)
afterAll(async () => {
  if (own) await lendAudit(theBed(), own.auditLog, 'ending-story')
  await proxy?.stop()
  await own?.home.end()
})

// The first is made at once; the second takes its time, but only once.
function slowModule(name: string) {
  const [diary, begun] = ['diary', 'begun'].map((each) => join(own.home.folder, `${name}.${each}`)) as [string, string]
  const module = `
resource "terraform_data" "quick" {
  provisioner "local-exec" {
    command = "echo made >> ${diary}"
  }
}
resource "terraform_data" "slow" {
  depends_on = [terraform_data.quick]
  provisioner "local-exec" {
    command = "test -e ${begun} || { touch ${begun}; sleep 300; }"
  }
}
`
  return {
    module,
    hasBegun: async () =>
      until(`the apply of ${name} runs`, async () => (existsSync(begun) ? true : undefined), patience),
    timesMade: () => readFileSync(diary, 'utf8').split('made').length - 1,
  }
}

const hasEnded = async ({ member }: ManagerProcess) =>
  until(`${member.name} has ended`, async () => member.obituary(), patience)

const asFirstProcess = ['unshare', '--user', '--map-root-user', '--pid', '--fork', '--mount-proc', '--kill-child']
const canBeFirst = spawnSync('unshare', [...asFirstProcess.slice(1), 'true']).status === 0

test.skipIf(!canBeFirst)(
  'one that cannot renew its Lease, and is the first process of its container, interrupts its runs before it ends',
  async () => {
    const work = join(own.home.folder, 'lost-work')
    const engine = await own.start('lost', {
      work,
      kubeconfig: await engineKubeconfig({ kube: own.kube, folder: own.home.folder }, proxy),
      within: asFirstProcess,
      flags: ['--leader-elect-lease-duration=6s', '--leader-elect-renew-deadline=4s', '--leader-elect-retry-period=1s'],
    })
    const { module, hasBegun, timesMade } = slowModule('lost')
    const lost = aWorkspace({ namespace, name: 'lost', module })
    await own.kube.apply(lost)
    await hasBegun()
    proxy.inject({ verb: 'patch', path: /leases\/capt-engine/ }, { do: 'answer', code: 503 })
    expect(await hasEnded(engine)).toMatch(/^lost ended with 1;/)
    expect((await readLog(engine.address.log)).findLast(({ msg }) => msg === 'election')?.['role']).toBe('lost')
    expect(await lockHolder(own.kube, 'lost')).toBe('nobody')
    const next = await own.start('after-lost', { work })
    await seeConverged(own.kube, lost)
    expect(timesMade()).toBe(1)
    await next.member.kill('SIGTERM')
  },
  300_000,
)

test('one that is told to end interrupts what runs longer than it may wait for, and says so', async () => {
  const work = join(own.home.folder, 'drained-work')
  const engine = await own.start('drained', { work, flags: ['--drain-timeout=3s'] })
  const { module, hasBegun, timesMade } = slowModule('drained')
  const drained = aWorkspace({ namespace, name: 'drained', module })
  await own.kube.apply(drained)
  await hasBegun()
  await engine.member.kill('SIGTERM') // returns when it has ended
  expect(engine.member.obituary()).toMatch(/^drained ended with 0;/)
  const told = await own.kube.read(drained)
  expect(told && conditionOf(told, 'Synced')?.message).toContain('it was interrupted because the engine stops')
  expect(await lockHolder(own.kube, 'drained')).toBe('nobody')
  await own.start('after-drained', { work })
  await seeConverged(own.kube, drained)
  expect(timesMade()).toBe(1)
}, 300_000)
