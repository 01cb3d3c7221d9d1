// The two providers that CAPT is to Cluster API, and which kinds are whose. They can be installed and run apart.
import { groups } from './kind.ts'

export const providers = ['infrastructure', 'control-plane'] as const
export type Provider = (typeof providers)[number]

// What Cluster API has a bootstrap provider for does nothing here: it comes with the infrastructure.
export function providerOf({ group }: { readonly group: string }): Provider {
  return group === groups.controlPlane ? 'control-plane' : 'infrastructure'
}

// As clusterctl spells it, in labels and in folders.
export function providerName(provider: Provider): string {
  return `${provider}-capt`
}
