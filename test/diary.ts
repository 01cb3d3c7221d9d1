// Offline templates that write down what they make and what is gone, and wait at gates: files in one folder, whichever engine runs them.
// So what several management clusters did can be counted.
import { writeFileSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { KubeObject } from './bed/kube.ts'
import { offlineTemplates } from './clusters.ts'
import { until } from './until.ts'

export interface Diary {
  readonly templates: readonly KubeObject[]
  // `made vpc demo`: what, of which cluster, in that order.
  lines(): Promise<readonly string[]>
  // Nobody goes through it, when that is made or changed, until it is opened.
  shut(what: 'vpc' | 'eks'): Promise<void>
  open(what: 'vpc' | 'eks'): Promise<void>
  sees(line: string): Promise<void>
}

export function aDiary(folder: string, namespace: string): Diary {
  const file = join(folder, `${namespace}.diary`)
  const gateOf = (what: string) => join(folder, `${namespace}.${what}`)
  writeFileSync(file, '')
  const lines = async () => (await readFile(file, 'utf8')).split('\n').filter(Boolean)
  return {
    templates: offlineTemplates(namespace).map((template) => written(template, file, gateOf)),
    lines,
    shut: async (what) => writeFile(gateOf(what), ''),
    open: async (what) => rm(gateOf(what)),
    async sees(line) {
      const isWritten = async () => (await lines()).includes(line) || undefined
      await until(`the diary of ${namespace} says ${line}`, isWritten, { withinSeconds: 120 })
    },
  }
}

function written(template: KubeObject, diary: string, gateOf: (what: string) => string): KubeObject {
  const { template: inner } = template['spec'] as {
    readonly template: { readonly spec: { readonly forProvider: { readonly module: string } } }
  }
  const { forProvider } = inner.spec
  const told = (what: string) => `
  provisioner "local-exec" {
    command = "echo made ${what} \${self.input.name} >> ${diary}"
  }
  provisioner "local-exec" {
    when    = destroy
    command = "echo gone ${what} \${self.input.name} >> ${diary}"
  }`
  // Each further tag takes a step through the gate.
  const step = (what: string) => `resource "terraform_data" "step" {
  for_each = var.tags
  provisioner "local-exec" {
    command = "echo step ${what} \${each.key} >> ${diary}; while test -e ${gateOf(what)}; do sleep 0.1; done"
  }
}
`
  const module = forProvider.module
    .replace('resource "terraform_data" "vpc" {', (head) => `${step('vpc')}${head}${told('vpc')}`)
    .replace('resource "terraform_data" "cluster" {', (head) => `${step('eks')}${head}${told('eks')}`)
  return {
    ...template,
    spec: { template: { ...inner, spec: { ...inner.spec, forProvider: { ...forProvider, module } } } },
  }
}
