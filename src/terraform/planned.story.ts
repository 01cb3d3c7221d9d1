// What OpenTofu would do, we read from its plan.
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { aFolder } from '../../test/folder.ts'
import { realParts } from '../../tools/workshop.ts'
import { type Planned, readPlan } from './planned.ts'

const nothing: Planned = { create: [], update: [], replace: [], delete: [] }

const first = `
resource "terraform_data" "kept" { input = "1" }
resource "terraform_data" "changed" { input = "1" }
resource "terraform_data" "replaced" { triggers_replace = "1" }
resource "terraform_data" "handed_over" {
  triggers_replace = "1"
  lifecycle { create_before_destroy = true }
}
resource "terraform_data" "dropped" {}
resource "terraform_data" "forgotten" {}
resource "terraform_data" "old_name" {}
resource "terraform_data" "each" {
  for_each = toset(["a b", "\\"quoted\\""])
}
output "stays" { value = "1" }
output "moves" { value = "1" }
`

const second = `
resource "terraform_data" "kept" { input = "1" }
resource "terraform_data" "changed" { input = "2" }
resource "terraform_data" "replaced" { triggers_replace = "2" }
resource "terraform_data" "handed_over" {
  triggers_replace = "2"
  lifecycle { create_before_destroy = true }
}
removed {
  from = terraform_data.forgotten
  lifecycle { destroy = false }
}
moved {
  from = terraform_data.old_name
  to = terraform_data.new_name
}
resource "terraform_data" "new_name" {}
resource "terraform_data" "each" {
  for_each = toset(["a b"])
}
resource "terraform_data" "added" {}
output "stays" { value = "1" }
output "moves" { value = "2" }
`

async function aModule(text: string) {
  const { tofu } = await realParts(['tofu'])
  const folder = aFolder()
  const run = (...args: readonly string[]) => {
    const { stdout, stderr, status } = spawnSync(tofu, args, {
      cwd: folder,
      encoding: 'utf8',
      maxBuffer: 2 ** 28,
      env: { PATH: '', HOME: folder },
    })
    expect(status, stderr).toBe(0)
    return stdout
  }
  const become = (module: string) => writeFileSync(join(folder, 'main.tf'), module)
  become(text)
  run('init', '-input=false')
  const plan = (...args: readonly string[]) => {
    run('plan', '-input=false', '-out=plan', ...args)
    return readPlan(run('show', '-json', 'plan'))
  }
  const apply = () => run('apply', '-input=false', 'plan')
  const state = join(folder, 'terraform.tfstate')
  const edit = (change: (state: State) => void) => {
    const edited = JSON.parse(readFileSync(state, 'utf8')) as State
    change(edited)
    writeFileSync(state, JSON.stringify({ ...edited, serial: edited.serial + 1 }))
  }
  return { become, plan, apply, edit }
}

interface State {
  readonly serial: number
  resources: { name: string; instances: Record<string, unknown>[] }[]
}

test('created, updated, replaced either way, deleted, forgotten, moved, outputs: as the plan of OpenTofu says', async () => {
  const { become, plan, apply } = await aModule(first)
  const born = plan()
  expect(born.create).toHaveLength(9)
  expect(born).toEqual({ ...nothing, create: born.create })
  apply()
  expect(plan()).toEqual(nothing)
  become(second)
  expect(plan()).toEqual({
    ...nothing,
    create: ['terraform_data.added'],
    update: ['terraform_data.changed'],
    replace: ['terraform_data.handed_over', 'terraform_data.replaced'],
    delete: ['terraform_data.dropped', 'terraform_data.each["\\"quoted\\""]'],
  })
  apply()
  expect(plan()).toEqual(nothing)
  const { delete: all, ...rest } = plan('-destroy')
  expect(all).toHaveLength(7)
  expect(rest).toEqual({ create: [], update: [], replace: [] })
})

test('a deposed object that is left over goes, and is named as what it is', async () => {
  const { plan, apply, edit } = await aModule(first)
  plan()
  apply()
  edit(({ resources }) => {
    const instances = resources.find(({ name }) => name === 'kept')?.instances ?? []
    instances.push({ ...instances[0], deposed: '1a2b3c4d' })
  })
  expect(plan()).toEqual({ ...nothing, delete: ['terraform_data.kept (deposed 1a2b3c4d)'] })
})
