import { expect, test } from 'vitest'
import { environmentOf, type Surroundings } from './environment.ts'

const ours = {
  PATH: '/bin',
  HTTPS_PROXY: 'http://proxy',
  no_proxy: 'here',
  AWS_ROLE_ARN: 'arn:role',
  AWS_SECRET_ACCESS_KEY: 'of the engine',
  AWS_WEB_IDENTITY_TOKEN_FILE: '/token',
  KUBERNETES_SERVICE_HOST: '10.0.0.1',
  KUBECONFIG: '/engine',
  HOME: '/root',
  TF_LOG: 'trace',
}
const usual = { files: {}, env: {}, usesPluginCache: false, usesIdentity: false }
const env = (inputs: Partial<Surroundings['inputs']> = {}, given: Surroundings['given'] = {}) =>
  environmentOf({
    inputs: { ...usual, ...inputs },
    home: '/w/home',
    temporary: '/w/tmp',
    pluginCache: '/p',
    given,
    ours,
  })

const always = {
  PATH: '/bin',
  HTTPS_PROXY: 'http://proxy',
  no_proxy: 'here',
  KUBERNETES_SERVICE_HOST: '10.0.0.1',
  HOME: '/w/home',
  TMPDIR: '/w/tmp',
  TF_IN_AUTOMATION: '1',
  TF_INPUT: '0',
  CHECKPOINT_DISABLE: '1',
  GIT_TERMINAL_PROMPT: '0',
}

test('of ours only the ways out are passed on', () => {
  expect(env()).toEqual(always)
})

test('the role of the pod is passed on where it is meant, and keys of the engine never', () => {
  expect(env({ usesIdentity: true })).toEqual({
    ...always,
    AWS_ROLE_ARN: 'arn:role',
    AWS_WEB_IDENTITY_TOKEN_FILE: '/token',
  })
})

test('the cache is named where it is used', () => {
  expect(env({ usesPluginCache: true })).toMatchObject({
    TF_PLUGIN_CACHE_DIR: '/p',
    TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE: '1',
  })
})

test('credentials of git and of Terraform itself are named by their files', () => {
  expect(env({ files: { '.git-credentials': 'hush', '.terraformrc': 'hush' } })).toEqual({
    ...always,
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'credential.helper',
    GIT_CONFIG_VALUE_0: "store --file='/w/home/.git-credentials'",
    TF_CLI_CONFIG_FILE: '/w/home/.terraformrc',
  })
})

test('what the Workspace asks for comes last', () => {
  const given = { KUBE_CONFIG_PATH: '/engine' }
  expect(env({}, given)).toMatchObject(given)
  expect(env({ env: { KUBE_CONFIG_PATH: '/mine', TF_LOG: 'debug', HOME: '/x' } }, given)).toMatchObject({
    KUBE_CONFIG_PATH: '/mine',
    TF_LOG: 'debug',
    HOME: '/x',
  })
})
