// A whole life of an apply, from its creation until nothing is left of it, with a manager and an engine that can be struck at any of
// their acts. What must come of it is for whoever tells the story.

import { expect } from 'vitest'
import { labels } from '../src/api/keys.ts'
import { Secret } from '../src/api/neighbours.ts'
import type { JsonRecord } from '../src/api/record.ts'
import { type Key, type KubeObject, type Resource, tellObject } from '../src/api/resource.ts'
import type { ProviderConfig } from '../src/api/workspace.ts'
import { WorkspaceTemplate } from '../src/api/workspacetemplate.ts'
import { WorkspaceTemplateApply } from '../src/api/workspacetemplateapply.ts'
import { type Inputs, isVarFile } from '../src/engine/inputs.ts'
import type { Client } from '../src/kube/client.ts'
import { stateNamespace as states } from '../src/terraform/statesecret.ts'
import type { Instant, Module } from './instant.ts'
import { maskedAll, type Stage, seeQuiet } from './masked.ts'
import { type Acts, api, liveEach, type Pace, type Site, type Strike, startPair } from './struck.ts'
import { aUser } from './user.ts'

export interface Life {
  readonly acts: Acts
  readonly struck: string | undefined // which act; undefined: it never came to it
  readonly stages: readonly Stage[]
  readonly asked: readonly string[] // what the user was asked to approve, in order
  readonly left: readonly string[] // what is there at the end and nobody will collect, in the cloud too
  readonly cloud: readonly string[] // calls to it, in order
  readonly twice: readonly string[] // what was there twice at the same time
}

const template = `
variable "cidr" {}
variable "size" {}
variable "password" { sensitive = true }
resource "terraform_data" "network" { input = var.cidr }
resource "terraform_data" "cluster" {
  input            = var.password
  triggers_replace = var.size
}
output "id" { value = terraform_data.network.output }
output "token" {
  value     = var.password
  sensitive = true
}
`

// What that module says, as the instant Terraform reads it.
function moduleOf({ files }: Inputs): Module {
  const given = Object.entries(files).filter(([name]) => isVarFile(name))
  const values = given.flatMap(([, text]) => Object.entries(JSON.parse(text) as JsonRecord))
  const { cidr, size, password } = Object.fromEntries(values)
  return {
    resources: { 'terraform_data.network': cidr, 'terraform_data.cluster': { password, size } },
    outputs: { id: `id-${String(cidr)}`, token: password },
    sensitive: ['token'],
    replaces: size !== 'small',
  }
}

export interface Fate {
  readonly strike: Strike
  readonly like: Life // how it went undisturbed
}

// One life in a namespace of its own. After each step it is waited until everything is as it should be, or for a while.
export async function live(site: Site, namespace: string, fate?: Fate): Promise<Life> {
  const { strike, like } = fate ?? {}
  const { connect, pace } = site
  const client = connect()
  const at = (name: string): Key => ({ namespace, name })
  const pair = await startPair(site, client, { namespace, strike, moduleOf })
  const { instant } = pair
  const owner = anOwner(client, at, instant, pace)
  const stages: Stage[] = []
  const see = async (after: string, id: string) => {
    await owner.seesReady(id)
    stages.push({ after, objects: await seeQuiet(owner.looks, pace, like?.stages[stages.length]?.objects) })
  }
  try {
    await owner.begins()
    await see('it was made', 'id-one')
    await owner.changes({ variables: { cidr: 'two', size: 'small' } })
    await see('it was changed', 'id-two')
    await owner.changes({ variables: { cidr: 'two', size: 'large' } })
    await see('a part of it was replaced', 'id-two')
    await owner.ends()
    return {
      acts: pair.acts,
      struck: pair.struck(),
      stages,
      asked: owner.asked,
      left: [...(await owner.finds()), ...instant.cloud.there.values()],
      cloud: instant.cloud.calls,
      twice: [...pair.twice],
    }
  } catch (error) {
    const seen = JSON.stringify(await owner.looks(), null, 1)
    throw new Error(`${String(error)}\nstruck: ${pair.struck()}\n${seen}`, { cause: error })
  } finally {
    await pair.end()
    client.close()
  }
}

// Lives a life for each strike, and sees each end as the undisturbed one. Tells how many have fallen.
export async function liveThrough(site: Site, like: Life, strikes: readonly Strike[]): Promise<number> {
  return liveEach(
    site.pace.atATime,
    strikes,
    async (namespace, strike) => live(site, namespace, { strike, like }),
    (told, strike, life) => judge(told, strike, life, like),
  )
}

// The same is there after each step, and nothing in the end; nothing is made twice unless the user, who was asked, has approved
// it; and asked is only where a run was noted and not yet ended.
function judge(told: string, { who, at, how }: Strike, life: Life, like: Life): void {
  for (const [index, stage] of life.stages.entries()) expect.soft(stage, told).toEqual(like.stages[index])
  expect.soft([...life.left, ...life.twice], told).toEqual([])
  const isAsked = life.asked.includes('ApplyInterrupted')
  const done = life.acts.engine.slice(0, how === 'after' ? at : at - 1)
  const mayBeAsked = who === 'engine' && isInARun(done)
  expect.soft(isAsked && !mayBeAsked, `${told}, and the user was asked`).toBe(false)
  if (!isAsked) expect.soft(changesOf(life), told).toEqual(changesOf(like))
}

// Whether after these acts of an engine a run is noted, and not that it has ended.
function isInARun(acts: readonly string[]): boolean {
  const kept = acts.findLastIndex((act) => act.startsWith('keep '))
  // Before there is something to patch it is made.
  const made = acts.findIndex((act) => act.startsWith('create Secret') && act.includes('/memory-'))
  const notes = acts.filter(
    (act, index) => index > kept && index >= made && act.includes(' Secret ') && act.includes('/memory-'),
  )
  if (made < 0) return false
  return kept < 0 || notes.length !== 1
}

function changesOf({ cloud }: Life): readonly string[] {
  return cloud.filter((call) => !call.startsWith('update')).map((call) => call.replace(/ \S+\.demo/, ''))
}

function anOwner(client: Client, at: (name: string) => Key, { cloud }: Instant, { everyMs }: Pace) {
  const patience = { withinSeconds: 60, everyMs }
  const user = aUser(client, patience, (reason) => {
    // What a killed run has left behind is taken away before it is made again.
    for (const stray of reason === 'ApplyInterrupted' ? cloud.strays() : []) cloud.there.delete(stray)
  })
  const { namespace = '' } = at('')
  const header = { apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1' }
  const config = { apiVersion: `${api.group}/v1beta1`, kind: 'ProviderConfig', metadata: at('config') }
  const password = { apiVersion: 'v1', kind: 'Secret', metadata: at('password'), data: { value: 'czNjcjN0' } }

  async function all(): Promise<readonly KubeObject[]> {
    const kinds: readonly Resource[] = [
      WorkspaceTemplate,
      WorkspaceTemplateApply,
      api.workspace,
      api.providerConfig,
      api.usage,
      Secret,
    ]
    const found = await Promise.all(kinds.map(async (kind) => client.list(kind, { namespace })))
    const { items } = await client.list(Secret, { namespace: states })
    const isOurs = ({ metadata }: Secret) =>
      metadata.labels?.[labels.apply] === `${namespace}.demo` || metadata.name === `tfstate-${namespace}.demo-capt`
    return [...found.flatMap((each) => each.items), ...items.filter(isOurs)]
  }

  return {
    asked: user.asked,
    looks: async () => maskedAll(await all(), namespace),
    async begins() {
      await client.create(Secret, password)
      await client.create<ProviderConfig>(api.providerConfig, { ...config, spec: { configuration: '# none' } })
      await client.create(WorkspaceTemplate, {
        ...header,
        kind: 'WorkspaceTemplate',
        metadata: at('network'),
        spec: {
          workspaceAPI: api.group,
          template: {
            spec: {
              forProvider: { source: 'Inline', module: template },
              providerConfigRef: { kind: 'ProviderConfig', name: 'config' },
            },
          },
        },
      })
      await client.create(WorkspaceTemplateApply, {
        ...header,
        kind: 'WorkspaceTemplateApply',
        metadata: at('demo'),
        spec: {
          templateRef: { name: 'network' },
          variables: { cidr: 'one', size: 'small' },
          variablesFrom: [
            { name: 'password', secret: { name: 'password', key: 'value', format: 'Text' }, optional: false },
          ],
          destructiveChanges: 'Hold',
          deletionProtection: false,
          retainOnDelete: false,
        },
      })
    },
    changes: async (spec: JsonRecord) => client.patch(WorkspaceTemplateApply, at('demo'), { spec }),
    seesReady: async (id: string) => user.seesReady(at('demo'), ({ status }) => status?.outputs?.['id'] === id),
    async ends() {
      await client.remove(WorkspaceTemplateApply, at('demo'))
      await user.seesGone(WorkspaceTemplateApply, at('demo'))
      await client.remove(WorkspaceTemplate, at('network'))
      await client.remove(Secret, at('password'))
      await client.remove(api.providerConfig, at('config'))
      await user.seesGone(api.providerConfig, at('config'))
    },
    // Without what belongs to something that is no more: nobody collects that here.
    async finds(): Promise<readonly string[]> {
      const objects = await all()
      const uids = new Set(objects.map(({ metadata }) => metadata.uid))
      const isGarbage = ({ metadata: { ownerReferences: owners = [] } }: KubeObject) =>
        owners.length > 0 && owners.every(({ uid }) => !uids.has(uid))
      return objects.filter((object) => !isGarbage(object)).map(tellObject)
    },
  }
}
