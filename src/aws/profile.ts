// Reads a profile of AWS's shared files, for the keys that stand in it. What else a profile can ask for (single sign-on,
// programs, other roles) is named and refused, not passed over: signing as somebody else would be worse. Pure.
import { seal } from '../api/sealed.ts'
import type { Credentials } from './signature.ts'

export interface SharedFiles {
  readonly credentials: string // the text of each; empty: not there
  readonly config: string
}

export type Profile =
  | { readonly is: 'absent' }
  | { readonly is: 'empty' } // it says nothing of credentials
  | { readonly is: 'keys'; readonly credentials: Credentials }
  | { readonly is: 'half'; readonly lacks: string }
  | { readonly is: 'unsupported'; readonly asksFor: string }

type Settings = Readonly<Record<string, string>>

// Of them a role comes before keys in the same profile, as in AWS's SDKs.
const rolewise = 'role_arn'
const others = [
  'credential_process',
  'credential_source',
  'login_session',
  'source_profile',
  'sso_account_id',
  'sso_session',
  'sso_start_url',
  'web_identity_token_file',
]

export function readProfile({ credentials, config }: SharedFiles, name: string): Profile {
  const section = name === 'default' ? /^(profile\s+)?default$/ : new RegExp(`^profile\\s+${escape(name)}$`)
  const general = settingsOf(config, section)
  const special = settingsOf(credentials, new RegExp(`^${escape(name)}$`))
  if (!general && !special) return { is: 'absent' }
  const settings: Settings = { ...general, ...special } // the file of credentials has the last word
  const { aws_access_key_id: id, aws_secret_access_key: secret, aws_session_token: session } = settings
  if (settings[rolewise]) return { is: 'unsupported', asksFor: rolewise }
  if (id && secret) {
    const keys = { accessKeyId: id, secretAccessKey: seal(secret) }
    return { is: 'keys', credentials: { ...keys, ...(session && { sessionToken: seal(session) }) } }
  }
  if (id || secret) return { is: 'half', lacks: id ? 'aws_secret_access_key' : 'aws_access_key_id' }
  const asksFor = others.find((other) => settings[other])
  return asksFor === undefined ? { is: 'empty' } : { is: 'unsupported', asksFor }
}

// None: there is no such section. A section may come more than once.
function settingsOf(text: string, section: RegExp): Settings | undefined {
  let found: Record<string, string> | undefined
  let isIn = false
  for (const line of text.split(/\r?\n/)) {
    const said = line.replace(/(^|\s)[#;].*$/, '').trimEnd()
    const [, head] = /^\s*\[\s*([^\]]*?)\s*\]$/.exec(said) ?? []
    const [, key = '', value = ''] = /^([^\s=][^=]*?)\s*=\s*(.*)$/.exec(said) ?? [] // an indented line belongs to another setting
    if (head !== undefined) {
      isIn = section.test(head)
      if (isIn) found ??= {}
    } else if (found && isIn && key) found[key.toLowerCase()] = value
  }
  return found
}

function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
