import { expect, test } from 'vitest'
import { readProfile } from './profile.ts'

const keys = 'aws_access_key_id = AKIA1\naws_secret_access_key = hush\n'
const read = (credentials: string, config = '', name = 'default') => {
  const profile = readProfile({ credentials, config }, name)
  if (profile.is !== 'keys') return Object.values(profile).join(' ')
  const { accessKeyId, secretAccessKey, sessionToken } = profile.credentials
  return ['keys', accessKeyId, secretAccessKey.open(), ...(sessionToken ? [sessionToken.open()] : [])].join(' ')
}

test.each<[string, Parameters<typeof read>, string]>([
  ['no files', ['', ''], 'absent'],
  ['keys', [`[default]\n${keys}`], 'keys AKIA1 hush'],
  ['keys of a session', [`[default]\n${keys}aws_session_token=tok==`], 'keys AKIA1 hush tok=='],
  ['keys in the config', ['', `[default]\n${keys}`], 'keys AKIA1 hush'],
  ['keys in the config, long form', ['', `[profile default]\n${keys}`], 'keys AKIA1 hush'],
  ['another profile', [`[other]\n${keys}`], 'absent'],
  ['a profile by name', [`[default]\n[other]\n${keys}`, '', 'other'], 'keys AKIA1 hush'],
  ['a profile of the config by name', ['', `[profile other]\n${keys}`, 'other'], 'keys AKIA1 hush'],
  ['a section of the config that is no profile', ['', `[other]\n${keys}`, 'other'], 'absent'],
  ['a name with signs', ['', `[profile a.b+c]\n${keys}`, 'a.b+c'], 'keys AKIA1 hush'],
  ['a name that is nearly so', ['', `[profile axb+c]\n${keys}`, 'a.b+c'], 'absent'],
  [
    'both files',
    [`[default]\n${keys}`, '[default]\naws_access_key_id=AKIA2\naws_session_token=tok'],
    'keys AKIA1 hush tok',
  ],
  [
    'comments',
    ['# a\n[default] ; b\n; c\naws_access_key_id=AKIA1 # d\naws_secret_access_key=hu#sh'],
    'keys AKIA1 hu#sh',
  ],
  ['the lines of Windows', [`[default]\r\n${keys.replaceAll('\n', '\r\n')}`], 'keys AKIA1 hush'],
  ['capitals', ['[default]\nAWS_ACCESS_KEY_ID=AKIA1\nAws_Secret_Access_Key=hush'], 'keys AKIA1 hush'],
  [
    'a section in two pieces',
    ['[default]\naws_access_key_id=AKIA1\n[x]\n[default]\naws_secret_access_key=hush'],
    'keys AKIA1 hush',
  ],
  ['what belongs to another setting', [`[default]\ns3 =\n  aws_access_key_id = AKIA2\n${keys}`], 'keys AKIA1 hush'],
  ['only a region', ['', '[default]\nregion = us-east-1'], 'empty'],
  ['half of a pair', ['[default]\naws_access_key_id=AKIA1'], 'half aws_secret_access_key'],
  ['the other half', ['[default]\naws_secret_access_key=hush'], 'half aws_access_key_id'],
  ['single sign-on', ['', '[default]\nsso_session = my'], 'unsupported sso_session'],
  ['old single sign-on', ['', '[default]\nsso_start_url = https://x'], 'unsupported sso_start_url'],
  ['a program', ['', '[default]\ncredential_process = /bin/x'], 'unsupported credential_process'],
  ['a role of another profile', ['', '[default]\nrole_arn = arn:x\nsource_profile = y'], 'unsupported role_arn'],
  ['a role before keys', [`[default]\n${keys}`, '[default]\nrole_arn = arn:x'], 'unsupported role_arn'],
  ['keys before a program', [`[default]\n${keys}`, '[default]\ncredential_process = /bin/x'], 'keys AKIA1 hush'],
])('of %s', (_, [credentials, config, name], expected) => {
  expect(read(credentials, config, name)).toBe(expected)
})
