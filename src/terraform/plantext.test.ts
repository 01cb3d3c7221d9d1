import { expect, test } from 'vitest'
import { readPlanText, withoutProgress } from './plantext.ts'

const created = `
OpenTofu will perform the following actions:

  # module.net["a.b"].terraform_data.vpc will be created
  + resource "terraform_data" "vpc" {
      + input = <<-EOT
            Plan: 0 to add, 0 to change, 1 to destroy.
        EOT
    }

  # terraform_data.eks will be created
  + resource "terraform_data" "eks" {
    }

Plan: 2 to add, 0 to change, 0 to destroy.

Changes to Outputs:
  + endpoint = (known after apply)
`

test('a plan that only creates is read from its words', () => {
  expect(readPlanText(created)?.create).toEqual(['module.net["a.b"].terraform_data.vpc', 'terraform_data.eks'])
})

test.each([
  ['something is changed', created.replace('2 to add, 0 to change', '2 to add, 1 to change')],
  ['something is destroyed', created.replace(/^(Plan: 2.*) 0 to destroy/m, '$1 1 to destroy')],
  ['something is imported', created.replace('Plan: 2 to add', 'Plan: 1 to import, 2 to add')],
  ['something is forgotten', created.replace(/^(Plan: 2.*)\.$/m, '$1, 1 to forget.')],
  ['the counts do not agree, as when it was cut', created.replace('Plan: 2', 'Plan: 3')],
  ['a warning says it otherwise', `${created}\nWarning: check\nPlan: 2 to add, 0 to change, 0 to destroy.\n`],
  ['only outputs change', 'Changes to Outputs:\n  + x = 1\n'],
  ['there is nothing to do', 'No changes. Your infrastructure matches the configuration.\n'],
])('when %s, the words are not enough', (_, text) => {
  expect(readPlanText(text)).toBeUndefined()
})

test('what was read on the way to a plan is no part of it, in whatever order it came', () => {
  const way = [
    'data.aws_ami.this["a b"]: Reading...',
    'terraform_data.eks: Refreshing state... [id=7f3a]',
    'data.aws_ami.this["a b"]: Still reading... [10s elapsed]',
    'data.aws_ami.this["a b"]: Read complete after 11s [id=ami-1]',
    'aws_vpc.this: Preparing import... [id=vpc-1]',
    'ephemeral.aws_secret.this: Opening...',
    'ephemeral.aws_secret.this: Opening complete after 0s',
    'ephemeral.aws_secret.this: Closing...',
    'ephemeral.aws_secret.this: Closing complete after 0s',
  ]
  const plan = `${created}      + text = "door: Opening..."\n`
  expect(withoutProgress(`${way.join('\n')}\n${plan}`)).toBe(plan)
  expect(withoutProgress(`${way.toReversed().join('\n')}\n${plan}`)).toBe(plan)
})
