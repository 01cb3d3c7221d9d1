// Of which class an error of Terraform is, and what to do about it. Pure. Only the words are known here: the error was taken out of
// what Terraform printed before.

export type FailureClass = 'quota' | 'credentials' | 'dependency' | 'timeout' | 'lock' | 'syntax' | 'unknown'

export interface Diagnosis {
  readonly class: FailureClass
  readonly hint: string // what to do
  readonly lock?: string // the id of the lock that is in the way
}

interface TerraformError {
  readonly title: string
  readonly detail: string
}

interface Rule {
  readonly class: FailureClass
  readonly in?: 'title' // else in all that is said
  readonly says: RegExp
  readonly hint: string
}

// The first that fits counts. What is wrong with a module is told by titles alone: the rest quotes it.
const rules: readonly Rule[] = [
  {
    class: 'lock',
    says: /\bstate lock\b|\bstate is already locked\b|\bstate blob is already locked\b/i,
    hint: 'wait until the run that holds it ends; if that run is gone for sure, release the lock',
  },
  {
    class: 'syntax',
    in: 'title',
    says: /^Unsupported (?:Terraform|OpenTofu) Core version/i,
    hint: 'run it with an engine that has the version the module asks for, or take an older version of the module',
  },
  {
    class: 'syntax',
    in: 'title',
    says: /^Backend (?:configuration|type) changed/i,
    hint: 'the state would be looked for elsewhere: put the backend in the ProviderConfig back, or move the state there and give initArgs -reconfigure',
  },
  {
    class: 'syntax',
    in: 'title',
    says: /^(?:No value for required variable|Invalid value for (?:input )?variable|Value for undeclared variable)/i,
    hint: 'give the variable a value that fits, in variables of the WorkspaceTemplateApply',
  },
  {
    class: 'syntax',
    in: 'title',
    says: /^(?:Module not (?:found|installed)|Unreadable module|Could not download module|Failed to download module|Module source|Module version|Unresolvable module)/i,
    hint: 'check the address of the module and its version, and that the engine can reach it',
  },
  {
    class: 'syntax',
    in: 'title',
    says: /^(?:Failed to query available provider|Could not (?:load|retrieve) (?:plugin|the list)|Failed to install provider|Inconsistent dependency lock|Invalid provider)/i,
    hint: 'check required_providers of the module, and that the engine can reach the registry',
  },
  {
    class: 'syntax',
    in: 'title',
    says: /^(?:Argument or block|Attribute redefined|Backend|Call to unknown|Circular|Cycle|Duplicate|Error in function call|Extra|Inco(?:rrect|nsistent)|Invalid|Missing|Reference to|Self-referential|Un(?:closed|expected|known|supported|terminated))\b/i,
    hint: 'correct the module in the WorkspaceTemplate',
  },
  {
    class: 'credentials',
    says: /ExpiredToken|token (?:included in the request )?is expired|RequestExpired/i,
    hint: 'renew the credentials that the ProviderConfig gives',
  },
  {
    class: 'credentials',
    says: /AccessDenied|UnauthorizedOperation|AuthorizationError|is not authorized to perform|not authorized to perform this operation|StatusCode: 403/i,
    hint: 'allow the role of the ProviderConfig what the error names',
  },
  {
    class: 'credentials',
    says: /NoCredentialProviders|no valid credential sources|failed to refresh cached credentials|InvalidClientTokenId|UnrecognizedClient|SignatureDoesNotMatch|AuthFailure|InvalidAccessKeyId|InvalidIdentityToken|MissingAuthenticationToken|no EC2 IMDS role found|cannot (?:get|extract) (?:provider )?credentials|CredentialsNotFound|could not find (?:default )?credentials/i,
    hint: 'give the engine credentials: check the ProviderConfig and the Secret or role it names',
  },
  {
    class: 'quota',
    says: /\bThrottling|ThrottlingException|RequestLimitExceeded|TooManyRequests|Rate exceeded/i,
    hint: 'AWS was asked too often; it is tried again, and fewer runs at a time help',
  },
  {
    class: 'quota',
    says: /Insufficient\w*Capacity|UnsupportedAvailabilityZone/i,
    hint: 'AWS has none of these there now: take another instance type or zone, or wait',
  },
  {
    class: 'quota',
    says: /LimitExceeded|QuotaExceeded|LimitReached|MaxSpotInstanceCount|maximum number of|exceeded? (?:your|the) (?:current )?(?:quota|limit)/i,
    hint: 'raise the quota in Service Quotas of the AWS account, or remove what is no longer needed',
  },
  {
    class: 'dependency',
    says: /DependencyViolation|ResourceInUse|DeleteConflict|has (?:a )?dependen|is (?:currently |already )?in use|in use by|BucketNotEmpty|ResourceConflict|has nodegroups attached/i,
    hint: 'something still uses it: remove what the error names, which Terraform may not know of, and it goes on',
  },
  {
    class: 'dependency',
    says: /\bcreate it, or correct /,
    hint: 'create what the error names, or correct the reference',
  },
  {
    class: 'dependency',
    says: /ProviderConfig\S* "?[\w.-]*"? ?not found|cannot get (?:referenced )?ProviderConfig/i,
    hint: 'create that ProviderConfig, or name another in providerConfigRef',
  },
  {
    class: 'dependency',
    says: /Invalid\w+ID\.NotFound|InvalidGroup\.NotFound|ResourceNotFoundException|NoSuchEntity|NoSuchBucket/,
    hint: 'what it refers to is not there: create it first, or correct the reference',
  },
  {
    class: 'timeout',
    says: /timeout while waiting|context deadline exceeded|timed? ?out\b|took longer than it may|signal: (?:killed|terminated|interrupt)|i\/o timeout|deadline exceeded|context canceled/i,
    hint: 'look in AWS what it waits for; it is tried again, and the engine may need a longer --timeout',
  },
  {
    class: 'unknown',
    says: /cannot determine creation result/,
    hint: 'a first apply was interrupted: check in AWS what it made, then remove the annotation crossplane.io/external-create-pending of the Workspace',
  },
  {
    // Last: what the check says may be more telling.
    class: 'unknown',
    in: 'title',
    says: /(?:precondition|postcondition|assertion) failed$/i,
    hint: 'the module refuses it by a check of its own: give it what that asks for, in variables of the WorkspaceTemplateApply',
  },
]

const unknown = {
  class: 'unknown',
  hint: 'it is tried again; status.failure.text has the whole error',
} as const

const readLength = 16_384 // what is said further down is of other things

export function diagnosed({ title, detail }: TerraformError): Diagnosis {
  const all = `${title} ${detail}`.slice(0, readLength).replace(/\s+/g, ' ')
  const found = rules.find(({ in: where, says }) => says.test(where === 'title' ? title : all)) ?? unknown
  const lock = found.class === 'lock' ? lockIn(detail) : undefined
  return { class: found.class, hint: found.hint, ...(lock !== undefined && { lock }) }
}

// The id of the lock that an error speaks of.
export function lockIn(detail: string): string | undefined {
  return /^ *ID: +(?<id>[\w-]+)$/m.exec(detail)?.groups?.['id']
}
