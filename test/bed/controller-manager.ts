// kube-controller-manager with the controllers that clusters without nodes need.
import { join } from 'node:path'
import type { Located } from '../../tools/build.ts'
import type { Api } from './apiserver.ts'
import type { Household } from './household.ts'
import type { Kube } from './kube.ts'
import { kubeconfig } from './kubeconfig.ts'
import { freePort } from './ports.ts'
import { privateFile } from './private-file.ts'

const controllers = [
  'namespace-controller',
  'garbage-collector-controller',
  'serviceaccount-controller',
  'serviceaccount-token-controller',
  'root-ca-certificate-publisher-controller',
  'clusterrole-aggregation-controller',
]

export async function startControllerManager(
  home: Household,
  api: Api,
  kube: Kube,
  parts: Located<'kube-controller-manager'>,
): Promise<void> {
  const user = api.authority.issueClient('system:kube-controller-manager')
  const serving = api.authority.issueServer('kube-controller-manager', ['127.0.0.1'])
  const port = await freePort()
  const write = (file: string, text: string) => privateFile(join(api.folder, file), text)
  const member = home.start(
    'kube-controller-manager',
    parts['kube-controller-manager'],
    [
      `--kubeconfig=${write('controller-manager.kubeconfig', kubeconfig(api, user))}`,
      `--controllers=${controllers.join(',')}`,
      '--use-service-account-credentials=true',
      `--service-account-private-key-file=${api.tokenKeyFile}`,
      `--root-ca-file=${write('root-ca.crt', api.ca)}`,
      '--leader-elect=false',
      '--bind-address=127.0.0.1',
      `--secure-port=${port}`,
      `--tls-cert-file=${write('controller-manager.crt', serving.cert)}`,
      `--tls-private-key-file=${write('controller-manager.key', serving.key)}`,
      '--kube-api-qps=200',
      '--kube-api-burst=400',
      '--profiling=false',
    ],
    { GOGC: '50' },
  )
  const itsFirstDeed = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace: 'default' } }
  await kube.see(itsFirstDeed, 'is made by the controller manager', () => true, { giveUp: member.obituary })
}
