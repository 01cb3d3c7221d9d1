// Engines on an API server of a story's own: to be stopped, starved of disk or time, and polled as often as one likes.
import { resolve } from 'node:path'
import { realParts } from '../../tools/workshop.ts'
import { seeEstablished } from './core.ts'
import { type EngineLaunch, engineKubeconfig, grantEngine, launchEngine } from './engine.ts'
import { type ManagerProcess, seeReady } from './manager.ts'
import { type OwnApi, startOwnApi } from './own.ts'

const crds = resolve(import.meta.dirname, '../../manifests/engine/crds.yaml')

export interface OwnEngines extends OwnApi {
  launch(name: string, how?: HowToLaunch): Promise<ManagerProcess>
  // Launched, and seen to be ready.
  start(name: string, how?: HowToLaunch): Promise<ManagerProcess>
}

type HowToLaunch = Partial<Omit<EngineLaunch, 'name'>>

export async function startOwnEngines(story: string): Promise<OwnEngines> {
  const { tofu } = await realParts(['tofu'])
  const api = await startOwnApi(story)
  const { home, kube } = api
  await kube.kubectl(['apply', '--server-side', '--field-manager=bed', '-f', crds])
  await Promise.all([seeEstablished(kube), grantEngine(kube)])
  const kubeconfig = await engineKubeconfig({ kube, folder: home.folder }, api)
  const launch: OwnEngines['launch'] = async (name, how = {}) => launchEngine(home, { name, kubeconfig, tofu, ...how })
  return {
    ...api,
    launch,
    async start(name, how) {
      const engine = await launch(name, how)
      await seeReady(engine)
      return engine
    },
  }
}
