import { expect, test } from 'vitest'
import { anEks, but, cluster, controlPlane, network } from '../../../test/controlplanes.ts'
import { CAPTCluster } from '../../api/captcluster.ts'
import type { CAPTControlPlane } from '../../api/captcontrolplane.ts'
import { Cluster } from '../../api/neighbours.ts'
import { type Key, keyOf, type Resource, tellKey } from '../../api/resource.ts'
import { WorkspaceTemplate } from '../../api/workspacetemplate.ts'
import { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'
import type { Read } from '../../runtime/cache.ts'
import { claimedBy, namesakeOf } from './claim.ts'
import { eksNameOf } from './eks.ts'

const unwritten = { spec: { eksClusterName: undefined } }
// The same in another namespace, born a minute later, unless it is said otherwise.
const rival = (...changes: readonly Parameters<typeof but>[1][]) =>
  changes.reduce(
    but<CAPTControlPlane>,
    but(controlPlane, {
      metadata: { namespace: 'rich', uid: 'uid-of-rival', creationTimestamp: '2026-11-16T11:56:00Z' },
    }),
  )
const older = { metadata: { creationTimestamp: '2026-11-16T11:54:00Z' } }

function look(
  subject: CAPTControlPlane,
  other: CAPTControlPlane,
  { region = 'ap-northeast-1', template = {}, isLost = false } = {},
) {
  const all = [subject, other]
  const read = {
    get(resource: Resource, key: Key) {
      const isRich = key.namespace === 'rich'
      const metadata = { namespace: key.namespace, name: key.name }
      if (resource === Cluster) return but(cluster, { metadata })
      if (resource === WorkspaceTemplateApply)
        return but(anEks('done'), { spec: { variables: { region: 'ap-northeast-1' } } })
      if (resource === CAPTCluster && isRich && isLost) return undefined
      if (resource === CAPTCluster)
        return but(network, { metadata, spec: { region: isRich ? region : 'ap-northeast-1' } })
      return resource === WorkspaceTemplate ? { spec: { template: { spec: isRich ? template : {} } } } : undefined
    },
    byIndex: (_: Resource, __: string, name: string) => all.filter((each) => eksNameOf(each) === name),
  } as unknown as Read
  const told = (asked: typeof claimedBy) =>
    all.map((each) => {
      const key = asked(read, each)
      return key && tellKey(key)
    })
  return { claimed: told(claimedBy), namesakes: told(namesakeOf) }
}
const other = tellKey(keyOf(rival()))
const own = tellKey(keyOf(controlPlane))

test.each<[string, CAPTControlPlane, CAPTControlPlane, Parameters<typeof look>[2], readonly (string | undefined)[]]>([
  ['the older of two that hold it', controlPlane, rival(), {}, [undefined, own]],
  ['the other, if that is older', controlPlane, rival(older), {}, [other, undefined]],
  ['who has written it down, however young', but(controlPlane, unwritten), rival(), {}, [other, undefined]],
  ['the older of two that only want it', but(controlPlane, unwritten), rival(unwritten, older), {}, [other, undefined]],
  [
    'of two of one age always the same',
    controlPlane,
    rival({ metadata: { creationTimestamp: '2026-11-16T11:55:00Z' } }),
    {},
    [undefined, own],
  ],
  [
    'one that is leaving, until it is gone',
    controlPlane,
    rival(older, { metadata: { deletionTimestamp: 'x' } }),
    {},
    [other, undefined],
  ],
  ['both, in different regions', controlPlane, rival(), { region: 'eu-west-1' }, [undefined, undefined]],
  ['the other, also while its network is not there', controlPlane, rival(older), { isLost: true }, [other, undefined]],
  [
    'both, in different accounts',
    controlPlane,
    rival({ spec: { providerConfigRef: { kind: 'ClusterProviderConfig', name: 'acme' } } }),
    {},
    [undefined, undefined],
  ],
  [
    'both, where their templates name different accounts',
    controlPlane,
    rival(),
    { template: { providerConfigRef: { name: 'acme' } } },
    [undefined, undefined],
  ],
  [
    'both, where each namespace has accounts of its own',
    but(controlPlane, { spec: { providerConfigRef: { kind: 'ProviderConfig', name: 'a' } } }),
    rival({ spec: { providerConfigRef: { kind: 'ProviderConfig', name: 'a' } } }),
    {},
    [undefined, undefined],
  ],
  [
    'one, in one account under the name it has without saying',
    controlPlane,
    rival({ spec: { providerConfigRef: { kind: 'ClusterProviderConfig', name: 'default' } } }),
    {},
    [undefined, own],
  ],
  [
    'both, under different names',
    controlPlane,
    rival({ spec: { eksClusterName: 'other' } }),
    {},
    [undefined, undefined],
  ],
])('a name in EKS has %s', (_, subject, another, around, claimed) => {
  expect(look(subject, another, around).claimed).toEqual(claimed)
})

const elsewhere = { region: 'eu-west-1' }
const asked = (kubeconfig: object) => ({ spec: { kubeconfig } })
const role = (name: string) => asked({ source: 'AWS', aws: { roleARN: `arn:aws:iam::123456789012:role/${name}` } })
const byTemplate = { source: 'ServiceAccount', serviceAccount: { bootstrap: 'Template' } }

// What is signed holds for a name and a signer, wherever the cluster is and whoever pays for it.
test.each<[string, CAPTControlPlane, CAPTControlPlane, readonly (string | undefined)[]]>([
  ['not opened by the younger of two, in whatever region', controlPlane, rival(), [undefined, own]],
  ['not opened by the other, if that is older', controlPlane, rival(older), [other, undefined]],
  [
    'not opened by one with an account of its own',
    controlPlane,
    rival({ spec: { providerConfigRef: { kind: 'ProviderConfig', name: 'a' } } }),
    [undefined, own],
  ],
  ['not opened by one with the same role', but(controlPlane, role('a')), rival(role('a')), [undefined, own]],
  ['not opened by one who spells the role otherwise', but(controlPlane, role('a')), rival(role('A')), [undefined, own]],
  ['not opened by one with another role', but(controlPlane, role('a')), rival(role('b')), [undefined, undefined]],
  ['not opened by one with a role, if it has none', controlPlane, rival(role('b')), [undefined, undefined]],
  [
    'not opened by one that only wants an account in its own',
    controlPlane,
    rival(asked({ source: 'ServiceAccount' })),
    [undefined, own],
  ],
  [
    "not opened by one with a template's kubeconfig",
    controlPlane,
    rival(asked({ source: 'Template' })),
    [undefined, undefined],
  ],
  [
    "not opened by one with an account by way of a template's",
    controlPlane,
    rival(asked(byTemplate)),
    [undefined, undefined],
  ],
  ['as safe if it signs nothing itself', but(controlPlane, asked({ source: 'Template' })), rival(), [undefined, own]],
  [
    'opened by those of its own namespace',
    controlPlane,
    rival({ metadata: { namespace: 'team', name: 'other' } }),
    [undefined, undefined],
  ],
])('a cluster is %s', (_, subject, another, namesakes) => {
  expect(look(subject, another, elsewhere).namesakes).toEqual(namesakes)
})
