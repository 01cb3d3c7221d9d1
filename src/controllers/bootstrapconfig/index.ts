// The controller of CAPTBootstrapConfigs: what wakes it, what it writes and what it looks at.
import { CAPTBootstrapConfig } from '../../api/captbootstrapconfig.ts'
import { clusterNameLabel, clusterSecretType } from '../../api/contract.ts'
import { Cluster, Secret } from '../../api/neighbours.ts'
import { beside, type Key, type KubeObject, keyOf, tellKey } from '../../api/resource.ts'
import { applies, controller, mapped, ownerOf } from '../../runtime/controller.ts'
import type { Indexes } from '../../runtime/store.ts'
import { wokenByCluster } from '../ownercluster.ts'
import { dataSecretName, decide } from './decide.ts'

const byCluster = 'cluster' // index: the Cluster that core has labelled it with

const clusterOf = (config: KubeObject): Key | undefined => {
  const name = config.metadata.labels?.[clusterNameLabel]
  return name === undefined ? undefined : beside(config, name)
}

const indexes: Indexes<CAPTBootstrapConfig> = {
  [byCluster]: (config) => {
    const key = clusterOf(config)
    return key ? [tellKey(key)] : []
  },
}

export const bootstrapConfigController = controller({
  name: 'bootstrapconfig',
  kind: CAPTBootstrapConfig,
  wokenBy: [
    mapped<CAPTBootstrapConfig>(CAPTBootstrapConfig, (config) => [keyOf(config)], { indexes }),
    { ...ownerOf(Secret), scope: { fields: `type=${clusterSecretType}` } },
    wokenByCluster((cluster, _, read) => read.keysAt(CAPTBootstrapConfig, byCluster, tellKey(keyOf(cluster)))),
  ],
  writes: [{ resource: CAPTBootstrapConfig, verbs: ['patch'] }, applies(Secret)],
  observe(read, config: CAPTBootstrapConfig) {
    const key = clusterOf(config)
    return {
      config,
      cluster: key ? (read.get(Cluster, key) ?? 'gone') : 'none',
      secret: read.get(Secret, beside(config, dataSecretName(config))),
    }
  },
  decide,
})
