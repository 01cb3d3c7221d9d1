// One pass over a Workspace: asks what is next, does it, and asks again until there is nothing more to do. What is next is
// decided elsewhere; here it meets the API server and Terraform.
//
// Guarantees. The generation that is told as done is the one that was read at the beginning, whatever happens meanwhile. Nothing
// is written that would change nothing. Assumption. No other pass over the same Workspace runs.
import { hashOf } from '../api/canonical.ts'
import type { Said } from '../api/condition.ts'
import { annotations as ours } from '../api/keys.ts'
import { type Key, type KubeObject, keyOf, resourceName, tellKey } from '../api/resource.ts'
import { crossplane, type ProviderConfig, type Workspace, type WorkspaceAPI } from '../api/workspace.ts'
import type { Client } from '../kube/client.ts'
import { getIfThere } from '../kube/ifthere.ts'
import type { Clock } from '../runtime/clock.ts'
import { within } from '../runtime/deadline.ts'
import type { Log } from '../runtime/log.ts'
import { type Command, tellFailure } from '../terraform/failureform.ts'
import { noteOf, readPlan } from '../terraform/planned.ts'
import { tellPlanNote } from '../terraform/plannote.ts'
import { readPlanText, withoutProgress } from '../terraform/plantext.ts'
import { configKeyOf } from '../terraform/providerconfig.ts'
import { scrub } from '../terraform/scrub.ts'
import type { Claims } from './claims.ts'
import { tellWorkspaceConditions } from './conditions.ts'
import type { Connections, Outputs } from './connection.ts'
import { type Custody, type Kept, nothingKept } from './custody.ts'
import { type Done, decide, familyOf, type Happening, type Phase, type Rest, type Seen, type Step } from './decide.ts'
import type { Folder, Folders } from './folders.ts'
import { type Asked, type Inputs, InputsError, ownFiles } from './inputs.ts'
import { readOutputs, shownOf, tooLargeToShow } from './outputs.ts'
import { phaseOf, refusal, troubleOf } from './refusal.ts'
import type { Ran, Terraform } from './terraform.ts'
import type { Usages } from './usages.ts'
import { createWriting, type Subject } from './writing.ts'

export interface Hands {
  readonly client: Pick<Client, 'get' | 'patch' | 'replaceStatus'>
  readonly terraform: Terraform
  readonly folders: Folders
  readonly custody: Custody
  readonly connections: Connections
  readonly usages: Usages
  readonly claims: Claims
  readonly blocked: () => string | undefined // why nothing can be run at all
  readonly isEnding: () => boolean // nothing new is begun
  readonly now: () => string // as conditions write time
  readonly clock: Clock
  readonly log: Log
  gather(asked: Asked): Promise<Inputs>
  record(subject: KubeObject, event: Happening): void
}

export interface Passed {
  readonly wake: Rest['wake']
  readonly workspace: Workspace | undefined // as it was left
  readonly did: readonly string[]
  readonly says: string // conditions, when they were written
}

const firstInitMs = 60_000 // one that hangs must not keep all others
const logged: ReadonlySet<string> = new Set(['plan', 'apply', 'destroy']) // where enableTerraformCLILogging asks for it

// What is on the desk during a pass, beside what was decided on.
interface Desk extends Subject {
  done: Done
  inputs?: Inputs
  folder?: Folder
  kept?: Kept
  outputs?: Outputs
  filled?: Published
}

// Which version of a connection Secret has the outputs, and what is to be said of them.
interface Published {
  readonly version: string | undefined
  readonly done: Done
}

export function createPass(hands: Hands): (api: WorkspaceAPI, key: Key) => Promise<Passed> {
  const { client, terraform, folders, custody, connections, usages, now } = hands
  const writing = createWriting(client)
  const cli = `${terraform.family} ${terraform.version}`
  // As the status of each tells it, too: so an unchanged poll need not ask for outputs.
  const published = new Map<string, Published>()
  // The first init of a backend makes its default state there: two at once would hinder each other.
  const firstInits = new Map<string, Promise<Ran>>()

  async function pass(api: WorkspaceAPI, key: Key): Promise<Passed> {
    const did: string[] = []
    const start = await getIfThere(client, api.workspace, key)
    if (!start) return { wake: 'onChange', workspace: undefined, did, says: '' }
    const desk: Desk = { api, start, workspace: start, done: {} }
    const seen = (): Seen => ({
      workspace: desk.workspace,
      plural: resourceName(api.workspace),
      cli,
      blocked: hands.blocked(),
      isEnding: hands.isEnding(),
      done: desk.done,
    })
    try {
      for (;;) {
        const step = decide(seen())
        if (step.do === 'rest') {
          const says = await rest(desk, step)
          return { wake: step.wake, workspace: desk.workspace, did, says }
        }
        did.push(step.do)
        desk.done = { ...desk.done, ...(await attempt(step, desk)) }
      }
    } finally {
      await desk.folder?.dropPlan()
    }
  }

  async function attempt(step: Exclude<Step, Rest>, desk: Desk): Promise<Done> {
    try {
      return await perform(step, desk)
    } catch (error) {
      const phase = phaseOf(step, desk.done)
      if (phase === undefined) throw error
      return { failed: refusal(error, phase) }
    }
  }

  async function perform(step: Exclude<Step, Rest>, desk: Desk): Promise<Done> {
    const { workspace } = desk
    switch (step.do) {
      case 'name':
        await writing.annotate(desk, { [crossplane.externalName]: workspace.metadata.name })
        return {}
      case 'connect':
        return connect(desk, step.how)
      case 'claim':
        return (await writing.changeFinalizers(desk, (all) => [...all, crossplane.finalizer])) ? {} : { hasLeft: true }
      case 'init':
        return init(desk)
      case 'plan':
        return plan(desk)
      case 'begin': {
        const { note, planned } = step.changes
        const begun = { revision: revisionOn(desk), at: now() }
        await connections.reserve(desk.api, workspace)
        const beginning = {
          ...(step.what === 'create' && { [crossplane.createPending]: begun.at }),
          [ours.cli]: cli,
          [ours.plan]: tellPlanNote({ ...note, begun }),
        }
        await writing.annotate(desk, beginning)
        if (isStopped(desk.workspace)) {
          // Meanwhile, by whoever may be about to move it: nothing was begun.
          const { annotations: before = {} } = workspace.metadata
          await writing.annotate(
            desk,
            Object.fromEntries(Object.keys(beginning).map((key) => [key, before[key] ?? null])),
          )
          return {}
        }
        // The last before the apply: what is noted and does not end is held to have run.
        const creates = [...planned.create, ...planned.replace]
        await custody.begin(desk, folderOn(desk), keptOn(desk), {
          operation: 'apply',
          revision: begun.revision,
          creates,
        })
        return { begun: step.what }
      }
      case 'apply':
        published.delete(uidOf(workspace))
        return run(desk, 'apply', step.what)
      case 'settle':
        await writing.annotate(desk, {
          [step.as === 'failed' ? crossplane.createFailed : crossplane.createSucceeded]: now(),
        })
        return {}
      case 'publish':
        return publish(desk)
      case 'sign':
        await writing.annotate(desk, { [ours.cli]: cli })
        return {}
      case 'tell':
        await tellStatus(desk, step.said)
        if (step.event) hands.record(workspace, step.event)
        return {}
      case 'destroy': {
        const failure = await bringStateHome(desk)
        if (failure) return failure
        const kept = await arrive(desk)
        if (!kept) return {}
        const objection = custody.objection(desk, kept)
        if (objection !== undefined) return { failed: { phase: 'delete', told: objection } }
        const unknown = custody.unknown(kept)
        if (unknown !== undefined) {
          hands.record(workspace, { type: 'Warning', reason: 'ApplyInterrupted', note: unknown })
        }
        await custody.begin(desk, folderOn(desk), kept, {
          operation: 'destroy',
          revision: revisionOn(desk),
          creates: [],
        })
        return run(desk, 'destroy', 'delete')
      }
      case 'forget':
        return forget(desk)
      case 'release':
        return release(desk)
      case 'handOver': {
        const why = await custody.handOver(desk, workspace.metadata.annotations?.[ours.moved] ?? '')
        return { handedOver: why === undefined ? 'done' : { why } }
      }
    }
  }

  async function connect(desk: Desk, how: 'whole' | 'bare'): Promise<Done> {
    const { api, workspace } = desk
    const isLeaving = workspace.metadata.deletionTimestamp !== undefined
    try {
      const providerConfig = await readConfig(api, workspace)
      if (!isLeaving) await usages.track(api, workspace)
      const subject = how === 'whole' ? workspace : withoutModule(workspace)
      desk.inputs = await hands.gather({ api, workspace: subject, providerConfig })
    } catch (error) {
      if (!(error instanceof InputsError)) throw error
      const { inputs } = isLeaving && how === 'whole' ? await custody.recall(desk) : {}
      if (!inputs) return lacking(desk, error.message)
      desk.inputs = inputs
    }
    if (isLeaving) desk.inputs = notPulled(desk.inputs)
    const objection = hands.claims.objection(workspace, desk.inputs)
    if (objection !== undefined) return lacking(desk, objection)
    try {
      desk.folder = await folders.furnish(workspace, desk.inputs)
    } catch (error) {
      return { failed: { phase: 'connect', told: troubleOf(error) } }
    }
    return { connected: how, isInitialised: desk.folder.isInitialised }
  }

  // What came with its apply was built elsewhere, though nothing was ever run for it here.
  async function lacking(desk: Desk, told: string): Promise<Done> {
    const isStateKept = await custody.hasCome(desk)
    return { failed: { phase: 'connect', told, isLacking: true }, ...(isStateKept && { isStateKept }) }
  }

  async function readConfig(api: WorkspaceAPI, workspace: Workspace): Promise<ProviderConfig> {
    const { kind, resource, key } = configKeyOf(api, workspace)
    const unresolved = (why: string) => new InputsError(`failed to resolve provider config: ${why}`)
    if (!resource) throw unresolved(`there is no kind ${kind}: write ProviderConfig or ClusterProviderConfig`)
    const config = await getIfThere(client, resource, key)
    if (!config) throw unresolved(`cannot get provider config: ${kind}.${api.group} "${key.name}" not found`)
    return config
  }

  async function plan(desk: Desk): Promise<Done> {
    const folder = folderOn(desk)
    const failure = await bringStateHome(desk)
    if (failure) return failure
    const kept = await arrive(desk)
    if (!kept) return {}
    const objection = custody.objection(desk, kept)
    if (objection !== undefined) return { failed: { phase: 'observe', told: objection } }
    const ran = await command(desk, 'plan')
    if (ran.code !== 0 && ran.code !== 2) return failed(desk, 'plan', 'observe', ran)
    if (ran.code === 0) {
      await custody.converged(desk, folder, kept, desk.inputs)
      return { plan: 'same' }
    }
    let planned = readPlanText(ran.out)
    if (!planned) {
      const shown = await command(desk, 'showPlan')
      if (shown.code !== 0) return failed(desk, 'showPlan', 'observe', shown)
      planned = readPlan(shown.out)
    }
    const interrupted = custody.interruption(kept, planned)
    const note = noteOf(planned, {
      revision: plannedWith(desk),
      ...(typeof kept.state?.head === 'object' && { serial: kept.state.head.serial }),
      ...(interrupted && { interrupted }),
      ...(kept.isUnproven && { unprovenTo: uidOf(desk.workspace) }),
    })
    await custody.planned(desk, kept)
    await custody.keepPlan(desk, note.id, withoutProgress(hidden(desk, ran.out)))
    return { plan: { planned, interrupted, note, ...(kept.isUnproven && { isUnproven: true }) } }
  }

  // Undefined: what came was written by the other family of command lines, and the Workspace says so by now.
  async function arrive(desk: Desk): Promise<Kept | undefined> {
    const found = await custody.look(desk, folderOn(desk))
    const { writer = cli } = found
    if (writer !== cli && desk.workspace.metadata.annotations?.[ours.cli] === undefined)
      await writing.annotate(desk, { [ours.cli]: writer })
    desk.kept = await custody.arrive(desk, folderOn(desk), found)
    return familyOf(writer) === terraform.family ? desk.kept : undefined
  }

  // A command that could not write its state leaves it in the folder. Nothing goes on before it is where it belongs.
  async function bringStateHome(desk: Desk): Promise<Done | undefined> {
    const state = await folderOn(desk).leftState()
    if (state === undefined) return undefined
    await custody.rescue(desk, state, revisionOn(desk))
    const ran = await command(desk, 'push')
    return ran.code === 0 ? undefined : failed(desk, 'push', 'observe', ran)
  }

  async function publish(desk: Desk): Promise<Done> {
    const { api, workspace } = desk
    const phase = desk.done.begun ?? 'observe'
    const known = published.get(uidOf(workspace))
    if (known && known.version === (await connections.versionOf(workspace))) return known.done
    const ran = await command(desk, 'outputs')
    if (ran.code !== 0) return failed(desk, 'outputs', phase, ran)
    desk.outputs = readOutputs(ran.out)
    const notShown = tooLargeToShow(desk.outputs)
    const version = await connections.fill(api, workspace, desk.outputs)
    const done: Done = { isPublished: true, ...(notShown && { notShown }) }
    desk.filled = { version, done }
    return done
  }

  async function forget(desk: Desk): Promise<Done> {
    const { done } = desk
    if (!done.isDestroyed) {
      const { arrival, isElsewhere, movedSince } = await custody.look(desk, folderOn(desk))
      if (movedSince !== undefined) return { isForgotten: true } // nothing was made for it, and that state is not its own
      if (arrival.is !== 'nothing' || isElsewhere) return { isStateKept: true } // what came with its apply is destroyed first
    }
    const ran = await command(desk, 'forget')
    const isGone = ran.code === 0 || /doesn't exist/.test(ran.err)
    if (!isGone && !done.isDestroyed) return { isStateKept: true } // it holds something: that is destroyed first
    if (!isGone) return failed(desk, 'forget', 'delete', ran)
    await custody.forget(desk)
    return { isForgotten: true }
  }

  async function release(desk: Desk): Promise<Done> {
    const { api, workspace, done } = desk
    // What stays is only of use with its state.
    const isToStay = !done.isForgotten && !done.failed
    const failure = isToStay && (await folders.holdsState(workspace)) ? await bringLastStateHome(desk) : undefined
    if (failure) return failure
    if (isToStay && workspace.metadata.annotations?.[ours.moved] !== undefined) await custody.retire(desk)
    await usages.drop(api, workspace)
    await writing.changeFinalizers(desk, (all) => all.filter((each) => each !== crossplane.finalizer))
    await folders.remove(workspace)
    published.delete(uidOf(workspace))
    return { isReleased: true }
  }

  async function bringLastStateHome(desk: Desk): Promise<Done | undefined> {
    const connected = await connect(desk, 'whole')
    if (connected.failed) return connected
    const initialised = connected.isInitialised ? {} : await init(desk)
    return initialised.failed ? initialised : bringStateHome(desk)
  }

  // A command that cannot even be run has failed, and says why.
  async function command(desk: Desk, name: Exclude<Command, 'get' | 'unlock'>): Promise<Ran> {
    const folder = folderOn(desk)
    const ran = await custody.unlocked(desk, folder, desk.kept, async (): Promise<Ran> => {
      try {
        return await terraform[name](folder)
      } catch (error) {
        return { code: 1, out: '', err: `Error: ${troubleOf(error)}\n`, ended: 'byItself' }
      }
    })
    if (desk.inputs?.isLogged && logged.has(name)) {
      hands.log.info('Terraform says', {
        command: name,
        object: tellKey(keyOf(desk.start)),
        text: hidden(desk, ran.out),
      })
    }
    return ran
  }

  async function afterTheFirst(backend: string, start: () => Promise<Ran>): Promise<Ran> {
    const first = firstInits.get(backend)
    const waited = first && within(hands.clock, firstInitMs, 'wait for the first init', first).catch(() => {})
    const mine = waited ? waited.then(start) : start()
    if (!first) firstInits.set(backend, mine)
    return mine
  }

  async function init(desk: Desk): Promise<Done> {
    const ran = await afterTheFirst(backendOn(desk), async () => command(desk, 'init'))
    if (ran.code !== 0) return failed(desk, 'init', 'connect', ran)
    await folderOn(desk).noteInitialised()
    return { isInitialised: true }
  }

  async function run(desk: Desk, name: 'apply' | 'destroy', phase: Phase): Promise<Done> {
    const ran = await command(desk, name)
    await custody.settle(desk, folderOn(desk), keptOn(desk), ran, name === 'apply' ? desk.inputs : undefined)
    if (ran.code !== 0) return failed(desk, name, phase, ran)
    return name === 'apply' ? { isApplied: true } : { isDestroyed: true }
  }

  async function rest(desk: Desk, { said, event, note }: Rest): Promise<string> {
    const { workspace } = desk
    if (note !== undefined) {
      const told = note === 'none' ? null : tellPlanNote(note)
      if ((workspace.metadata.annotations?.[ours.plan] ?? null) !== told)
        await writing.annotate(desk, { [ours.plan]: told })
    }
    const says = said.length === 0 ? '' : await tellStatus(desk, said)
    if (event) hands.record(workspace, event)
    return says
  }

  async function tellStatus(desk: Desk, said: readonly Said[]): Promise<string> {
    const { start, workspace, done, folder, outputs } = desk
    const before = workspace.status ?? {}
    const { generation = 0, annotations = {} } = start.metadata
    const conditions = tellWorkspaceConditions(before.conditions ?? [], said, { generation, now: now() })
    const asked = annotations[crossplane.reconcileRequestedAt]
    const { source, module } = start.spec.forProvider
    const status = {
      ...before,
      atProvider: {
        ...before.atProvider,
        ...(folder && done.plan !== undefined && { checksum: folder.checksum }),
        ...(outputs && { outputs: done.notShown ? {} : shownOf(outputs) }),
        ...(folder && source === 'Remote' && done.isInitialised && { remoteSource: module }),
      },
      conditions,
      ...(asked !== undefined && { lastHandledReconcileAt: asked }),
    }
    const isNews = await writing.writeStatus(desk, status)
    if (desk.filled) published.set(uidOf(workspace), desk.filled)
    return isNews ? conditions.map(({ type, status: is, reason }) => `${type}=${is}(${reason})`).join(' ') : ''
  }

  return pass
}

function keptOn({ kept }: Desk): Kept {
  return kept ?? nothingKept
}

function folderOn({ folder }: Desk): Folder {
  if (!folder) throw new Error('a command was asked for before there was a folder')
  return folder
}

function backendOn({ inputs }: Desk): string {
  return hashOf([inputs?.files[ownFiles.configuration], inputs?.files[ownFiles.backend]])
}

// All that a plan was made with: an approval is for one that was made with the same. What is secret is in it only by the checksum
// of the folder, which is to be seen in the status, too: whoever reads the id must learn nothing from it.
function plannedWith(desk: Desk): string {
  const { folder, start } = desk
  return hashOf([revisionOn(desk), folder?.checksum, folder?.args.plan, start.spec.forProvider.env])
}

// What was asked for: as the manager names it, else by what reaches Terraform.
function revisionOn({ start, folder }: Desk): string {
  return start.metadata.annotations?.[ours.revision] ?? folder?.checksum ?? ''
}

function failed(desk: Desk, command: Command, phase: Phase, ran: Ran): Done {
  return { failed: { phase, told: tellFailure(command, { ...ran, err: hidden(desk, ran.err) }) } }
}

function hidden({ inputs }: Desk, text: string): string {
  return scrub(text, inputs?.secrets)
}

function isStopped({ metadata: { annotations: notes = {} } }: Workspace): boolean {
  return notes[crossplane.paused] === 'true' || notes[ours.moved] !== undefined
}

function uidOf({ metadata: { uid = '' } }: Workspace): string {
  return uid
}

// What goes is destroyed by the module that it was made with, where that is still there: its repository may be gone, too.
function notPulled(inputs: Inputs): Inputs {
  const { remote } = inputs
  return remote?.from === 'address' ? { ...inputs, remote: { ...remote, isPulledAlways: false } } : inputs
}

function withoutModule(workspace: Workspace): Workspace {
  const { env, initArgs } = workspace.spec.forProvider
  const forProvider = { source: 'Inline' as const, module: '', ...(env && { env }), ...(initArgs && { initArgs }) }
  return { ...workspace, spec: { ...workspace.spec, forProvider } }
}
