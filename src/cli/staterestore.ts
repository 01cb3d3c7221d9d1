// capt state restore: puts a state in the place of the one that is there, under Terraform's own lock, so that no run of an engine or
// of anybody else is on it meanwhile. What was there is copied first. Whether it may be, is decided elsewhere.
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { annotations } from '../api/keys.ts'
import { Lease, Secret } from '../api/neighbours.ts'
import { apiVersionOf, type Key, keyOf, tellObject, tellRef } from '../api/resource.ts'
import { crossplane, type Workspace, workspaceAPIs } from '../api/workspace.ts'
import { isAlreadyThere, isConflict } from '../kube/errors.ts'
import { getIfThere } from '../kube/ifthere.ts'
import { judgeRestore, type RestoreVerdict } from '../terraform/staterestore.ts'
import { heldLease, type Lock, lockInfo, lockKey, lockOf, type State, stateSecretOf } from '../terraform/statesecret.ts'
import { commandToApply } from '../terraform/word.ts'
import { Complaint } from './complaint.ts'
import { type Carrying, carriedBy, carry, seeCarriable } from './statecarry.ts'
import { type Asked, chosen, findStates, type States, stateNow, tellApply, textOfCopy } from './statefind.ts'
import { keep } from './statekeep.ts'
import { tellCount, tellState } from './statelist.ts'

export interface Restoring extends Carrying {
  readonly which: { readonly at: string } | { readonly text: string; readonly name: string } // a copy, or what is in a file
  readonly secret?: Key // where it belongs; none: as its copies say
  readonly who: string // user@host
  readonly id: () => string // of a lock
  agrees(): Promise<boolean> // after all was said
}

const how = { fieldManager: 'capt-cli' }

// False: it was not wanted.
export async function restoreState(asked: Restoring): Promise<boolean> {
  const { which, say } = asked
  const states = await findStates(asked)
  const { workspace, externalName } = states
  if (!states.apply) throw new Complaint(`there is no ${tellApply(asked)}: make it, else nobody uses the state`)
  const key = asked.secret ?? states.key
  if (!key) {
    throw new Complaint('no copy says where the state belongs: name its Secret with --secret, as the apply says it')
  }
  const copy = 'at' in which ? chosen(states, which.at, asked) : undefined
  const text = 'text' in which ? which.text : copy ? await textOfCopy(asked, copy) : ''
  const what = copy ? `copy ${copy.id}` : 'text' in which ? which.name : ''
  const found = await stateNow(asked, key)
  const verdict = await judge(asked, states, found, text)
  if (verdict.is === 'refused') throw new Complaint(`${what} is not restored: ${verdict.why}`)
  await seeCarriable(asked, states, verdict.head.lineage)
  if (verdict.is === 'same') {
    say(`${found.where}: ${what} is what is there`)
    await carry(asked, states, key, { ...found, head: verdict.head })
    return true
  }
  const bytes = await promisify(gzip)(verdict.text)
  const secret = stateSecretOf(key, externalName, bytes)
  if (!secret) {
    throw new Complaint(
      `${what} does not fit into ${tellRef(Secret, key)} of Terraform's workspace ${externalName}: export it, and push it with terraform state push`,
    )
  }
  const { serial } = verdict.head
  say(`now        ${tellState(found)}`)
  say(`restored   serial ${serial}, ${tellCount(verdict.resources)}, from ${what}`)
  if (verdict.warning !== undefined) say(`careful    ${verdict.warning}`)
  say(`then       ${nextOf(asked, workspace)}`)
  if (!(await asked.agrees())) return false
  await underLock(asked, key, states, async () => {
    const before = await stateNow(asked, key)
    if (before.text !== found.text) throw new Complaint('the state has changed meanwhile: look at it, and try again')
    await keep(asked, states, before, key)
    await put(asked, key, secret)
  })
  if (workspace) await wake(asked, workspace)
  else await carry(asked, states, key, { ...verdict, bytes })
  say(`done       serial ${serial} is in ${tellRef(Secret, key)}`)
  return true
}

async function judge(asked: Restoring, states: States, found: State, text: string): Promise<RestoreVerdict> {
  const { copies } = states
  const carried = await carriedBy(asked, states)
  const known = [...copies, ...(carried ? [carried] : []), ...(typeof found.head === 'object' ? [found.head] : [])]
  return judgeRestore({
    text,
    found: found.head,
    foundText: found.text,
    lineage: copies[0]?.lineage ?? carried?.lineage,
    known,
    isForced: asked.isForced,
  })
}

function nextOf(asked: Asked, workspace: Workspace | undefined): string {
  if (!workspace)
    return 'the Workspace is made on it; a plan that may make something a second time waits for your approval'
  const isPaused = workspace.metadata.annotations?.[crossplane.paused] === 'true'
  const watch = `kubectl get workspacetemplateapply ${asked.name} --namespace ${asked.namespace} --watch`
  return isPaused
    ? `nothing, while ${tellObject(workspace)} is paused; then the engine plans on it and applies what differs`
    : `the engine plans on it and applies what differs (to look first, pause the apply): ${watch}`
}

async function put({ client }: Restoring, key: Key, secret: Secret): Promise<void> {
  const { labels: marks, annotations: notes } = secret.metadata
  const there = await getIfThere(client, Secret, key)
  if (!there) return void (await client.create(Secret, secret, how))
  const { uid, resourceVersion } = there.metadata
  const metadata = { uid, resourceVersion, labels: marks, annotations: notes }
  await client.patch(Secret, key, { metadata, data: { tfstate: secret.data?.['tfstate'] } }, how)
}

async function underLock(
  asked: Restoring,
  key: Key,
  { externalName }: States,
  act: () => Promise<void>,
): Promise<void> {
  const { client, who, now } = asked
  const lock: Lock = { id: asked.id(), who, operation: 'capt state restore', created: now().toISOString() }
  await take(asked, heldLease(key, externalName, lock))
  try {
    await act()
  } finally {
    await free(client, key, lock.id)
  }
}

// Only while it is ours: somebody may have released it, and another taken it.
async function free(client: Restoring['client'], key: Key, id: string): Promise<void> {
  const lease = await getIfThere(client, Lease, lockKey(key))
  if (lease?.spec?.holderIdentity !== id) return
  const { uid, resourceVersion } = lease.metadata
  const metadata = { uid, resourceVersion, annotations: { [lockInfo]: null } }
  try {
    await client.patch(Lease, lockKey(key), { metadata, spec: { holderIdentity: null } }, how)
  } catch (error) {
    if (!isConflict(error)) throw error
    await free(client, key, id)
  }
}

async function take(asked: Restoring, wanted: Lease): Promise<void> {
  const { client } = asked
  const there = await getIfThere(client, Lease, keyOf(wanted))
  const holder = there && lockOf(there)
  if (there?.spec?.holderIdentity) {
    const { id = there.spec.holderIdentity, who = 'somebody', operation = '', created = '' } = holder ?? {}
    const release = commandToApply(asked, annotations.unlock, id)
    throw new Complaint(
      `the state is in use by ${who} since ${created} (${operation}): wait for that to end, or, if it never will, release its lock with: ${release}`,
    )
  }
  try {
    if (!there) return void (await client.create(Lease, wanted, how))
    const { uid, resourceVersion } = there.metadata
    const { annotations: notes } = wanted.metadata
    const metadata = { uid, resourceVersion, annotations: notes }
    await client.patch(Lease, keyOf(wanted), { metadata, spec: wanted.spec }, how)
  } catch (error) {
    if (!isConflict(error) && !isAlreadyThere(error)) throw error
    throw new Complaint('somebody began to use the state just now: try again', { cause: error })
  }
}

async function wake({ client, now }: Restoring, workspace: Workspace): Promise<void> {
  const api = Object.values(workspaceAPIs).find(({ workspace: kind }) => apiVersionOf(kind) === workspace.apiVersion)
  const change = { metadata: { annotations: { [crossplane.reconcileRequestedAt]: now().toISOString() } } }
  if (api) await client.patch(api.workspace, keyOf(workspace), change, how)
}
