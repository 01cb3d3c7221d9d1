// What reasons mean for whoever looks: is it at work, does it wait for another, has it failed, does it want somebody's word? Pure.
import { applyFailures, applyHolds } from '../api/workspacetemplateapply.ts'

// From the best to what is most worth reading.
export const standings = ['ready', 'waiting', 'working', 'paused', 'asking', 'failed'] as const
export type Standing = (typeof standings)[number]

export function isWorse(a: Standing, b: Standing): boolean {
  return standings.indexOf(a) > standings.indexOf(b)
}

// Reasons for which something is not so. Waiting: because of another object, which says more.
const meanings: Readonly<Record<Exclude<Standing, 'ready'>, readonly string[]>> = {
  waiting: [
    'NotYetKnown',
    'Waiting',
    'WaitingForCluster',
    'WaitingForClusterInfrastructureReady',
    'WaitingForSpotRole',
    'VPCReadyTimeout',
    'NotApplied',
    'WaitingForControlPlaneInitialized',
    'WaitingForBootstrapData',
    'WaitingForSecret',
    'WaitingForSecrets',
    'WaitingForWorkspaces',
    'WaitingForCleanup',
    'DependencyFailed',
    'NotCreated',
    'NotProvisioned',
    'NotReady',
    'NotAvailable',
    'Unknown',
    'Outdated',
  ],
  working: [
    'VPCCreating',
    'Planning',
    'Creating',
    'Applying',
    'Destroying',
    'Deleting',
    'WorkspaceDeleted',
    'ConnectionIncomplete',
    'ControlPlaneTimeout',
    'NotAnswering',
    'ValidatingSecret',
    'RollingOut',
  ],
  paused: ['Paused', 'ReconcilePaused'],
  asking: [...applyHolds, 'PlanOnly', 'CleanupTimeout'],
  failed: [
    'VPCCreationFailed',
    'InvalidVPCConfig',
    'Failed',
    'NameClaimed',
    'NameInvalid',
    'RegionMismatch',
    'NetworkMissing',
    'ApplyMissing',
    'SubnetsMissing',
    'DowngradeNotAllowed',
    'ProviderConfigChanged',
    ...applyFailures,
    'ReconcileError',
    'DeprecatedFields',
    'ProgressDeadlineExceeded',
    'WriteFailed',
  ],
}

const known = new Map(
  standings.flatMap((standing) =>
    standing === 'ready' ? [] : meanings[standing].map((reason) => [reason, standing] as const),
  ),
)

// Undefined: it is none of our words.
export function meaningOf(reason: string): Standing | undefined {
  return known.get(reason)
}

// Of words of others too, by what they look like.
export function standingFor(reason: string): Standing {
  return meaningOf(reason) ?? rules.find(({ says }) => says.test(reason))?.standing ?? 'working'
}

const rules: readonly { readonly says: RegExp; readonly standing: Standing }[] = [
  { says: /^WaitingFor|^Waiting$|^Not[A-Z]|NotYet|^$/, standing: 'waiting' },
  {
    says: /Fail|Error|Invalid|NotFound|DoesNotExist|Missing|Mismatch|Exceeded|Denied|Refused|Unhealthy/,
    standing: 'failed',
  },
]
