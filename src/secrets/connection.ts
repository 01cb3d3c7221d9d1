// What a template tells of the cluster it built: in its outputs, and in the connection Secret where sensitive ones are. Read
// once, here; nobody looks at either again. Pure.
import { isRecord } from '../api/record.ts'
import { type Sealed, seal } from '../api/sealed.ts'
import { readCertificates } from './certificate.ts'
import { type Endpoint, readEndpoint } from './endpoint.ts'

export interface Connection {
  readonly endpoint: Endpoint | undefined
  readonly ca: string | undefined // PEM
  readonly kubeconfig: Sealed | 'exposed' | undefined // exposed: it is where people read it who may not read Secrets
  readonly clusterName: string | undefined // in EKS
  readonly complaints: readonly string[] // each names a field, and what to do
}

type Data = Readonly<Record<string, string>> // base64

// What is in both, the outputs say.
export function readConnection(outputs: unknown, data: Data = {}): Connection {
  const output = (name: string): string | undefined => {
    const value = isRecord(outputs) && Object.hasOwn(outputs, name) ? outputs[name] : undefined
    return typeof value === 'string' && value !== '' ? value : undefined
  }
  const hidden = (name: string): string | undefined =>
    Object.hasOwn(data, name) ? Buffer.from(data[name] ?? '', 'base64').toString('utf8') || undefined : undefined
  const text = (name: string) => output(name) ?? hidden(name)
  const [address, authority, kubeconfig] = [text('cluster_endpoint'), text(caField), hidden('kubeconfig')]
  const endpoint = address === undefined ? undefined : readEndpoint(address)
  const ca = authority === undefined ? undefined : readCertificates(authority)
  return {
    endpoint,
    ca,
    kubeconfig:
      output('kubeconfig') !== undefined ? 'exposed' : kubeconfig === undefined ? undefined : seal(kubeconfig),
    clusterName: text('cluster_name'),
    complaints: [
      ...complaintOf('cluster_endpoint', address, endpoint, 'an address such as https://host:443'),
      ...complaintOf(caField, authority, ca, "the cluster's CA as PEM, or that in base64"),
    ],
  }
}

const caField = 'cluster_certificate_authority_data'

function complaintOf(name: string, given: string | undefined, read: unknown, what: string): readonly string[] {
  if (read !== undefined) return []
  return [given === undefined ? `there is no output ${name}: add ${what}` : `output ${name} is not ${what}`]
}
