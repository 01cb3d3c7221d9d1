// An engine process: what it runs, how runs reach the states, and what it does when it leads. Only wiring.
import { mkdir } from 'node:fs/promises'
import { resolve } from 'node:path'
import { timeOf } from '../api/moment.ts'
import { systemClock } from '../runtime/clock.ts'
import { type Process, type Served, serveProcess } from '../runtime/process.ts'
import { stateNamespace } from '../terraform/statesecret.ts'
import { type Binary, createSearch, findTerraform } from './binary.ts'
import { createClaims } from './claims.ts'
import { type CommandLine, createCommandLine } from './commandline.ts'
import { createConnections } from './connection.ts'
import { createCustody } from './custody.ts'
import { createEngine, engineAPIs } from './engine.ts'
import { createFolders } from './folders.ts'
import { type Environment, gather } from './inputs.ts'
import { thisMachine } from './life.ts'
import { createPass } from './pass.ts'
import { createRecords } from './records.ts'
import type { EngineSettings } from './settings.ts'
import { createStateAccess } from './stateaccess.ts'
import { createUsages } from './usages.ts'

export const lease = 'capt-engine'

export interface EngineProcess extends Process {
  hurry(): void // interrupts what runs, in good order
}

export async function serveEngine({
  env,
  ...served
}: Served<EngineSettings> & { readonly env: Environment }): Promise<EngineProcess> {
  const { settings, access, log } = served
  const date = () => new Date()
  const root = resolve(settings.root)
  await mkdir(root, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
    throw new Error(`cannot make ${root}, where work folders are to be: name another by --root`, { cause: error })
  })
  const machine = await thisMachine()
  const stopping = new AbortController()
  const running = { timeoutMs: settings.timeoutMs, clock: systemClock, stopping: stopping.signal }
  const nothing: Binary = { program: '', family: 'tofu', version: '' }
  let found = createCommandLine({ ...nothing, ...running })
  const search = createSearch({
    clock: systemClock,
    find: async () => findTerraform(settings.binary, env),
    onFound(binary) {
      log.info('runs', { ...binary })
      found = createCommandLine({ ...binary, ...running })
    },
    onMissing: (why) => log.error('nothing can be run', { why }),
  })
  await search.look()

  const { stop } = await serveProcess(served, {
    reporter: 'capt.appthrust.io/engine',
    leases: [lease],
    passSeconds: (4 * settings.timeoutMs) / 1000 + 600, // several runs
    prepare({ client, cache, clock, log: logged, metrics, record }) {
      const states = createStateAccess({ client, access, folder: root, clock, log })
      const ownEnv = { KUBE_CONFIG_PATH: states.file }
      const records = createRecords({ client, namespace: stateNamespace, date })
      let isEnding = false
      const custodian = { client, namespace: stateNamespace, records, machine, ownEnv, date, log: logged }
      const passBy = (terraform: CommandLine) =>
        createPass({
          client,
          terraform,
          folders: createFolders({ root, cli: terraform, given: ownEnv, ours: env, load: terraform.get }),
          custody: createCustody({ ...custodian, terraform }),
          connections: createConnections(client),
          usages: createUsages(client, cache),
          claims: createClaims(cache, engineAPIs),
          blocked: () => search.missing() ?? states.trouble(),
          isEnding: () => isEnding,
          now: () => timeOf(date()),
          clock,
          log: logged,
          gather: async (asked) => gather(asked, client, env),
          record: (subject, event) => record(subject, { do: 'tell', ...event }),
        })
      let current = { terraform: found, pass: passBy(found) }
      const { pollMs, jitterMs, concurrency } = settings
      const engine = createEngine({
        client,
        cache,
        clock,
        log: logged,
        metrics,
        poll: { pollMs, jitterMs, random: Math.random },
        concurrency,
        root,
        async pass(api, key) {
          await search.look()
          if (current.terraform !== found) current = { terraform: found, pass: passBy(found) }
          return current.pass(api, key)
        },
      })
      return {
        readyz: {
          terraform() {
            void search.look()
            return search.missing()
          },
          workspaces: () => engine.surrendered().join('; ') || undefined,
        },
        async lead() {
          await states.start()
          if (await cache.whenSynced()) await engine.work()
        },
        async stop() {
          isEnding = true
          await engine.stop()
          states.stop()
        },
      }
    },
  })
  return { stop, hurry: () => stopping.abort() }
}
