// Whose word keeps an object still, as people are told: its own annotation, or its Cluster. Pure.
import { pausedAnnotation } from '../api/contract.ts'
import type { Cluster } from '../api/neighbours.ts'
import { type KubeObject, tellObject } from '../api/resource.ts'

export function tellPause(object: KubeObject, cluster: Cluster | 'none' | 'gone'): string {
  return [...(typeof cluster === 'object' ? pausedByCluster(cluster) : []), ...pausedByItself(object)].join('; ')
}

export function pausedByCluster(cluster: Cluster): readonly string[] {
  return cluster.spec?.paused ? [`${tellObject(cluster)} is paused (spec.paused)`] : []
}

export function pausedByItself(object: KubeObject): readonly string[] {
  const isPaused = object.metadata.annotations?.[pausedAnnotation] !== undefined
  return isPaused ? [`${tellObject(object)} is paused (annotation ${pausedAnnotation})`] : []
}
