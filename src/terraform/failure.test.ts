import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { FailureClass } from './diagnosis.ts'
import { readFailure } from './failure.ts'
import { tellFailure } from './failureform.ts'

// A message as provider-terraform writes it.
function packed(text: string | Buffer, step = 'update'): string {
  const first = /^Error: (.*)$/m.exec(text.toString())?.[1] ?? ''
  const blob = gzipSync(text).toString('base64')
  return `${step} failed: cannot apply Terraform configuration: Terraform encountered an error. Summary: ${first}. To see the full error run: echo "${blob}" | base64 -d | gunzip`
}

function anError(
  title: string,
  detail = '',
  place = '  with aws_thing.x,\n  on main.tf line 1, in resource "aws_thing" "x":',
): string {
  return `\nError: ${title}\n\n${place}\n   1: resource "aws_thing" "x" {\n\n${detail}\n`
}

describe('what the provider really said becomes one line:', () => {
  test.each([
    [
      'a command that failed',
      'update failed: cannot apply Terraform configuration: Terraform encountered an error. Summary: local-exec provisioner error. To see the full error run: echo "H4sIAAAAAAAA/1SOsW7DMAxEd37FQUOzpB7qTQG6de4nFLLENAIsMqCoNkB/vkgyGN5IHN7dow8ztYhVc1pf+cYZV9Of2qsKG/ieEgG/1S9wNktntfZVkqdpSeVIgApaqjL5GWsVxnxEFRh3HZYZYU8FhCWVEAnAHIHdXNg0Av7oKQcbIlW+kbW1JAUHzheFK7oXHX7C419U292le2EzvL+8ncC36pgP8XFQ9+SjY57wOfw6PG4dtKeJ/gEAAP//AQAA//+us1DtGAEAAA==" | base64 -d | gunzip',
      {
        step: 'update',
        class: 'unknown',
        summary:
          "local-exec provisioner error (terraform_data.bad, main.tf line 3): Error running command 'echo to stdout; echo boom on stderr >&2; exit 3': exit status 3. Output: to stdout boom on stderr",
      },
    ],
    [
      'a variable without a value',
      'observe failed: cannot diff (i.e. plan) Terraform configuration: Terraform encountered an error. Summary: No value for required variable. To see the full error run: echo "H4sIAAAAAAAA/1SPsU7GMAyEdz/F6Z/5K3XtzsoED2CIQy0lcXGcLLw8ahEIJkvWd7rv6NHdfMOTYXIZgmwOl4+hLgmTXfm1CBFgDZW1LZFRtAnWjQCs2y+E27zhk+h5F7hZoFoaRaDtGPGf0o5mgS7xAG4JO58PJMk8SnybLHjpQoz7ZIf5de9Zi+DNaj1Tlwb7+6jSAmE43KYmAf/ZErt2+ilf6AsAAP//AQAA///zu4EH8AAAAA==" | base64 -d | gunzip',
      {
        step: 'observe',
        class: 'syntax',
        summary:
          'No value for required variable (main.tf line 1): The root module input variable "v" is not set, and has no default value. Use a -var or -var-file command line argument to provide a value for this variable.',
      },
    ],
    [
      'a module that is wrong',
      'observe failed: cannot diff (i.e. plan) Terraform configuration: Terraform encountered an error. Summary: Reference to undeclared resource. To see the full error run: echo "H4sIAAAAAAAA/1zOMWrDQBCF4X5O8dg6qFApSJEiF8gFwlr7JC2sZsRo1vj4xi6Mcf/z8cuvu/mEPy506kyEoWvh3LKzwHla95kigCn2XHWIBa0qMX6hKqzH0QPpliYBME4Arrl14vsJLVVZ/mOrug5qB0V+sGfN65uO9FEmpEebsOUTaoELqXhdVUVshJuF7FZ64yB3AAAA//8BAAD//2eb4STKAAAA" | base64 -d | gunzip',
      {
        step: 'observe',
        class: 'syntax',
        summary:
          'Reference to undeclared resource (main.tf line 2): A managed resource "undefined_thing" "nope" has not been declared in the root module.',
      },
    ],
    [
      'a ProviderConfig that is not there',
      'connect failed: failed to resolve provider config: cannot get provider config: ProviderConfig.tf.upbound.io "does-not-exist" not found',
      {
        step: 'connect',
        class: 'dependency',
        summary:
          'failed to resolve provider config: cannot get provider config: ProviderConfig.tf.upbound.io "does-not-exist" not found',
      },
    ],
  ])('%s', (_, message, expected) => {
    expect(readFailure(message)).toMatchObject(expected)
  })
})

// Requests have another id each time; the line must not.
const v2 = (action: string, error: string) =>
  `${action}, https response error StatusCode: 400, RequestID: 5b1c0d6e-1f2a-4c4e-9d7a-0123456789ab, ${error}`

describe('a failure has a class and a hint:', () => {
  test.each<[FailureClass, string, string]>([
    [
      'quota',
      anError(
        v2(
          'creating EC2 Instance: operation error EC2: RunInstances',
          'api error VcpuLimitExceeded: You have requested more vCPU capacity than your current vCPU limit of 32 allows',
        ),
      ),
      'Service Quotas',
    ],
    [
      'quota',
      anError(
        v2(
          'creating EC2 EIP: operation error EC2: AllocateAddress',
          'api error AddressLimitExceeded: The maximum number of addresses has been reached.',
        ),
      ),
      'Service Quotas',
    ],
    [
      'quota',
      anError('creating EKS Cluster (demo): LimitExceededException: Account has reached the limit of clusters'),
      'Service Quotas',
    ],
    ['quota', anError(v2('reading EC2 VPC', 'api error RequestLimitExceeded: Request limit exceeded.')), 'too often'],
    [
      'quota',
      anError(
        'creating Auto Scaling Group',
        'InsufficientInstanceCapacity: We currently do not have sufficient p4d.24xlarge capacity',
      ),
      'another instance type',
    ],
    [
      'credentials',
      anError(
        'configuring Terraform AWS Provider: no valid credential sources for Terraform AWS Provider found.',
        'Error: failed to refresh cached credentials, no EC2 IMDS role found',
      ),
      'check the ProviderConfig',
    ],
    ['credentials', anError('NoCredentialProviders: no valid providers in chain'), 'check the ProviderConfig'],
    [
      'credentials',
      anError(v2('reading STS', 'api error ExpiredToken: The security token included in the request is expired')),
      'renew',
    ],
    [
      'credentials',
      anError(
        v2(
          'creating IAM Role (x)',
          'api error AccessDenied: User: arn:aws:iam::1:user/x is not authorized to perform: iam:CreateRole',
        ),
      ),
      'allow',
    ],
    [
      'credentials',
      anError(
        v2(
          'creating EC2 VPC',
          'api error UnauthorizedOperation: You are not authorized to perform this operation. Encoded authorization failure message: Abc-123_x',
        ),
      ),
      'allow',
    ],
    [
      'dependency',
      anError(
        v2(
          'deleting EC2 Subnet (subnet-1)',
          "api error DependencyViolation: The subnet 'subnet-1' has dependencies and cannot be deleted.",
        ),
      ),
      'still uses',
    ],
    [
      'dependency',
      anError(v2('deleting EKS Cluster (demo)', 'ResourceInUseException: Cluster has nodegroups attached')),
      'still uses',
    ],
    [
      'dependency',
      anError(v2('creating EC2 Subnet', "api error InvalidVpcID.NotFound: The vpc ID 'vpc-1' does not exist")),
      'not there',
    ],
    [
      'timeout',
      anError(
        "waiting for EKS Node Group (demo:x) to create: timeout while waiting for state to become 'ACTIVE' (last state: 'CREATING', timeout: 1h0m0s)",
      ),
      '--timeout',
    ],
    ['timeout', anError('waiting for EKS Cluster (demo) create: context deadline exceeded'), '--timeout'],
    ['syntax', anError('Unsupported argument', 'An argument named "nmae" is not expected here.'), 'correct the module'],
    [
      'syntax',
      anError('Reference to undeclared input variable', 'An input variable with the name "x" has not been declared.'),
      'correct the module',
    ],
    ['syntax', anError('Argument or block definition required', 'AccessDenied is quoted here'), 'correct the module'],
    ['syntax', anError('Module not found', 'The module address "./x" could not be resolved.'), 'address of the module'],
    [
      'syntax',
      anError('Unsupported Terraform Core version', 'This configuration does not support Terraform version 1.5.5.'),
      'an engine that has the version',
    ],
    ['unknown', anError('creating Something: oh no'), 'has the whole error'],
    ['unknown', anError('Resource precondition failed', 'A node group has 1 to 10 nodes.'), 'a check of its own'],
    ['syntax', anError('Backend configuration changed'), 'the state would be looked for elsewhere'],
    ['quota', anError('Resource precondition failed', 'VcpuLimitExceeded: too many.'), 'Service Quotas'],
  ])('%s', (kind, text, hint) => {
    const failure = readFailure(packed(text))
    expect(failure.class).toBe(kind)
    expect(failure.hint).toContain(hint)
    expect(failure.summary).toContain('(aws_thing.x, main.tf line 1)')
    expect(failure.summary).not.toMatch(/5b1c0d6e|Abc-123_x/)
  })

  test.each<[FailureClass, string, string]>([
    ['timeout', 'create failed: cannot apply Terraform configuration: signal: killed', '--timeout'],
    ['timeout', 'observe failed: cannot list Terraform resources: context deadline exceeded', '--timeout'],
    [
      'unknown',
      'cannot determine creation result - remove the crossplane.io/external-create-pending annotation if it is safe to proceed',
      'interrupted',
    ],
    [
      'dependency',
      'connect failed: cannot get Secret team-a/x: 404: create it, or correct env[0].secretKeyRef',
      'create what the error names',
    ],
  ])('%s, which the engine itself tells', (kind, message, hint) => {
    expect(readFailure(message)).toMatchObject({ class: kind, hint: expect.stringContaining(hint) as string })
  })

  test.each([
    ['timeout', 'it took longer than it may (--timeout) and was interrupted', 'timeout'],
    ['stopped', 'it was interrupted because the engine stops', 'unknown'],
  ] as const)('a run that was interrupted (%s) did not fail for what it printed', (ended, summary, kind) => {
    const err = `${anError('execution halted')}${anError('no more')}`
    const failure = readFailure(`update failed: ${tellFailure('apply', { code: 1, err, ended })}`)
    expect(failure).toMatchObject({ summary, class: kind, text: err })
  })

  test('what our engine tells is read as what the provider tells', () => {
    const err = anError('first')
    const told = tellFailure('apply', { code: 1, err, ended: 'byItself' })
    expect(readFailure(`update failed: ${told}`)).toEqual(readFailure(packed(err)))
    const mute = tellFailure('plan', { code: 3, err: '', ended: 'byItself' })
    expect(readFailure(`observe failed: ${mute}`).summary).toBe('it ended with code 3 and said nothing')
  })

  test('a lock names who holds it, since when, and how it is released', () => {
    const {
      class: kind,
      summary,
      lock,
    } = readFailure(
      packed(`
Error: Error acquiring the state lock

Error message: the state is already locked by another terraform client
Lock Info:
  ID:        9db590f1-b6fe-c5f2-2678-8804f089deba
  Path:      
  Operation: OperationTypeApply
  Who:       root@engine-0
  Version:   1.5.5
  Created:   2026-11-15 23:22:53.5 +0000 UTC
  Info:      

Terraform acquires a state lock to protect the state from being written
by multiple users at the same time.
`),
    )
    expect(kind).toBe('lock')
    expect(summary).toBe(
      'Error acquiring the state lock: held by root@engine-0 since 2026-11-15 23:22:53.5 +0000 UTC for OperationTypeApply, lock ID 9db590f1-b6fe-c5f2-2678-8804f089deba',
    )
    expect(lock).toBe('9db590f1-b6fe-c5f2-2678-8804f089deba')
  })
})

describe('the line', () => {
  test('is of the first error, not of a warning before it, and says how many more there are', () => {
    const text = `\nWarning: Deprecated\n\nError: is what people say\n${anError('first')}${anError('second')}${anError('third')}`
    expect(readFailure(packed(text.replace('Error: is', 'An error is'))).summary).toBe(
      'first (aws_thing.x, main.tf line 1) (and 2 more)',
    )
  })

  test('has at most 400 bytes, whatever is said', () => {
    const { summary } = readFailure(packed(`${anError(`é${'ü'.repeat(999)}`)}${anError('second')}`))
    expect(Buffer.byteLength(summary)).toBeLessThanOrEqual(400)
    expect(summary).toMatch(/^éü+… \(and 1 more\)$/)
  })

  test('comes without the frame and the colours of a terminal', () => {
    const framed =
      '\u001b[31m╷\u001b[0m\n\u001b[31m│\u001b[0m \u001b[1mError: \u001b[0mno\n│ \n│   with a.b,\n│   on main.tf line 7:\n│ \n│ Because.\n╵\n'
    expect(readFailure(packed(framed)).summary).toBe('no (a.b, main.tf line 7): Because.')
  })
})

describe('a blob', () => {
  const long = anError('first', 'x'.repeat(60_000)) + anError('second')

  test('that was cut off gives what it begins with', () => {
    const random = fc.sample(fc.stringMatching(/^[a-z]{70}$/), { numRuns: 400, seed: 1 }).join('\n')
    const message = packed(anError('first', random))
    const failure = readFailure(message.slice(0, message.length / 2))
    expect(failure.summary).toContain('first (aws_thing.x, main.tf line 1): ')
    expect(failure.text.length).toBeGreaterThan(5000)
    expect(failure.text).toMatch(/\n[a-z]{70}\n$/) // no half line
  })

  test('that is none leaves what the engine said beside it', () => {
    const message = packed(anError('first')).replace(/echo "H4s/, 'echo "AAA')
    expect(readFailure(message)).toMatchObject({ step: 'update', summary: 'first', text: 'first' })
  })

  test('that would fill the memory is read as far as it is of use', () => {
    const failure = readFailure(packed(Buffer.concat([Buffer.from(anError('first')), Buffer.alloc(20_000_000, 'x\n')])))
    expect(failure.summary).toContain('first (aws_thing.x, main.tf line 1)')
    expect(Buffer.byteLength(failure.text)).toBeLessThanOrEqual(65_536)
  })

  test('is kept as text, to at most 64 KiB', () => {
    expect(readFailure(packed(long)).text).toBe(long)
    expect(Buffer.byteLength(readFailure(packed(long + long)).text)).toBeLessThanOrEqual(65_536)
  })
})

test('secrets are in none of it', () => {
  const failure = readFailure(
    packed(anError('login with hunter22 failed', 'password = "topsecret"\nkey AKIAIOSFODNN7EXAMPLE')),
    ['hunter22'],
  )
  expect(JSON.stringify(failure)).not.toMatch(/hunter22|topsecret|AKIA/)
  expect(failure.summary).toContain('login with *** failed')
})

test('whatever an engine says, it can be read', () => {
  const anything = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.uint8Array({ maxLength: 200 }).map((bytes) => packed(Buffer.from(bytes))),
    fc.tuple(fc.string({ unit: 'binary' }), fc.string()).map(([title, detail]) => packed(anError(title, detail))),
    fc.tuple(fc.nat(600), fc.nat(600)).map(([from, to]) => packed(anError('x', 'y')).slice(from, from + to)),
  )
  fc.assert(
    fc.property(anything, (message) => {
      const { summary, hint, text } = readFailure(message)
      expect(summary).toMatch(/^\S.*$/)
      expect(Buffer.byteLength(summary)).toBeLessThanOrEqual(400)
      expect(hint).not.toBe('')
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(65_536)
    }),
    { numRuns: 500 },
  )
})
