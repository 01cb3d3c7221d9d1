// A copy of a state that is about to be replaced, so that this can be undone: like those of the engine, and found beside them.
import { annotations, labels } from '../api/keys.ts'
import { Secret } from '../api/neighbours.ts'
import { groupOf, type Key, keyOf, type ObjectMeta, tellKey } from '../api/resource.ts'
import { crossplane } from '../api/workspace.ts'
import type { Client } from '../kube/client.ts'
import { applyLabelOf, recordIdOf } from '../terraform/identity.ts'
import { countIn } from '../terraform/state.ts'
import { copySecrets, idOf } from '../terraform/statecopy.ts'
import { type State, stateNamespace } from '../terraform/statesecret.ts'
import { workspaceRefOf } from '../view/situation.ts'
import type { Asked, States } from './statefind.ts'

export interface Keeping extends Asked {
  readonly client: Pick<Client, 'get' | 'list' | 'apply'>
  readonly now: () => Date
  say(line: string): void
}

// `key` is where the state belongs, wherever it was found.
export async function keep(
  asked: Keeping,
  { workspace, apply, externalName }: States,
  { head, bytes, text, where }: State,
  key: Key,
): Promise<void> {
  if (typeof head !== 'object' || head.isEmpty) return
  const ref = apply && workspaceRefOf(apply)
  const group = workspace ? groupOf(workspace.apiVersion) : (ref?.group ?? '')
  // As the Workspace will be called that is made again.
  const absent: ObjectMeta = {
    name: ref?.name ?? asked.name,
    ...(group === 'tf.upbound.io' ? {} : { namespace: asked.namespace }),
    annotations: { [crossplane.externalName]: externalName },
  }
  const metadata = workspace?.metadata ?? absent
  const resources = countIn(text)
  const copied = {
    bytes,
    head,
    takenAt: asked.now().toISOString(),
    revision: metadata.annotations?.[annotations.revision] ?? '',
    taken: 'after' as const,
    of: tellKey(key),
    ...(resources !== undefined && { resources }),
  }
  const about = {
    namespace: stateNamespace,
    labels: { [labels.apply]: applyLabelOf(asked), [labels.recordOf]: recordIdOf(group, metadata) },
    annotations: { [annotations.workspace]: `${group}/${tellKey(keyOf({ metadata }))}` },
  }
  for (const part of copySecrets(copied, about))
    await asked.client.apply(Secret, part, { fieldManager: 'capt-cli', force: true })
  asked.say(`kept       what was in ${where}, as copy ${idOf(bytes)}`)
}
