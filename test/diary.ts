// Offline templates that write down what they make and what is gone, and wait at gates: files in one folder, whichever engine runs them.
// So what several management clusters did can be counted.
import { writeFileSync } from 'node:fs'
import { appendFile, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { WorkspaceGroup } from '../src/api/workspace.ts'
import type { KubeObject } from './bed/kube.ts'
import { offlineTemplates } from './clusters.ts'
import { until } from './until.ts'

type Gate = 'vpc' | 'eks' | 'upgrade'

export interface Diary {
  readonly templates: readonly KubeObject[]
  // `made vpc demo`: what, of which cluster, in that order.
  lines(): Promise<readonly string[]>
  // What others do.
  write(line: string): Promise<void>
  // Nobody goes through it, when that is made or changed, until it is opened.
  shut(what: Gate): Promise<void>
  open(what: Gate): Promise<void>
  sees(beginning: string): Promise<void> // a line that begins so
}

export interface DiaryOptions {
  readonly group?: WorkspaceGroup // of those who run it; none: whoever is there
  readonly isReplacing?: boolean // an upgrade replaces a part of EKS
}

export function aDiary(folder: string, namespace: string, options: DiaryOptions = {}): Diary {
  const file = join(folder, `${namespace}.diary`)
  const gateOf = (what: string) => join(folder, `${namespace}.${what}`)
  writeFileSync(file, '')
  const lines = async () => (await readFile(file, 'utf8')).split('\n').filter(Boolean)
  return {
    templates: offlineTemplates(namespace).map((template) => written(template, file, gateOf, options)),
    lines,
    write: async (line) => appendFile(file, `${line}\n`),
    shut: async (what) => writeFile(gateOf(what), ''),
    open: async (what) => rm(gateOf(what)),
    async sees(beginning) {
      const isWritten = async () => (await lines()).some((line) => line.startsWith(beginning)) || undefined
      await until(`the diary of ${namespace} says ${beginning}`, isWritten, { withinSeconds: 120 })
    },
  }
}

function written(
  template: KubeObject,
  diary: string,
  gateOf: (what: string) => string,
  { group, isReplacing = false }: DiaryOptions,
): KubeObject {
  const { template: inner } = template['spec'] as {
    readonly template: { readonly spec: { readonly forProvider: { readonly module: string } } }
  }
  const { forProvider } = inner.spec
  const through = (what: string) => `while test -e ${gateOf(what)}; do sleep 0.1; done`
  const told = (what: string) => `
  provisioner "local-exec" {
    command = "echo made ${what} \${self.input.name} >> ${diary}; ${through(what)}"
  }
  provisioner "local-exec" {
    when    = destroy
    command = "echo gone ${what} \${self.input.name} >> ${diary}"
  }`
  // Each further tag takes a step through the gate.
  const step = (what: string) => `resource "terraform_data" "step" {
  for_each = var.tags
  provisioner "local-exec" {
    command = "echo step ${what} \${each.key} >> ${diary}; ${through(what)}"
  }
}
`
  const replaced = `resource "terraform_data" "upgrade" {
  input            = { name = var.kubernetes_version }
  triggers_replace = var.kubernetes_version
  ${told('upgrade')}
}
`
  const eks = `${step('eks')}${isReplacing ? replaced : ''}`
  const module = forProvider.module
    .replace('resource "terraform_data" "vpc" {', (head) => `${step('vpc')}${head}${told('vpc')}`)
    .replace('resource "terraform_data" "cluster" {', (head) => `${eks}${head}${told('eks')}`)
  const spec = { ...inner.spec, forProvider: { ...forProvider, module } }
  return { ...template, spec: { ...(group && { workspaceAPI: group }), template: { ...inner, spec } } }
}
