// A kubeconfig as kubectl writes it: its shape, and how its text is read. Nobody is asked, no file is opened.
import { parseDocument } from 'yaml'
import * as z from 'zod'

// Go takes null, and an empty text, for not set; kubectl writes both.
const words = z
  .string()
  .nullish()
  .transform((value) => value || undefined)
const base64 = words.refine((value) => !value || /^[A-Za-z\d+/\s]+={0,2}\s*$/.test(value), 'is not base64')
const flag = z.boolean().nullish()
const listOf = <T extends z.ZodType>(item: T) => z.preprocess((value) => value ?? [], z.array(item))
const orEmpty = <T extends z.ZodType>(part: T) => z.preprocess((value) => value ?? {}, part)

export type KubeconfigCluster = z.infer<typeof Cluster>
const Cluster = z.object({
  server: words,
  'certificate-authority': words,
  'certificate-authority-data': base64,
  'tls-server-name': words,
  'insecure-skip-tls-verify': flag,
  'proxy-url': words,
  extensions: listOf(z.object({ name: z.string(), extension: z.unknown().optional() })),
})

export type KubeconfigUser = z.infer<typeof User>
const User = z.object({
  token: words,
  tokenFile: words,
  'client-certificate': words,
  'client-certificate-data': base64,
  'client-key': words,
  'client-key-data': base64,
  username: words,
  password: words,
  exec: z
    .object({
      apiVersion: z.string(),
      command: z.string(),
      args: listOf(z.string()),
      env: listOf(z.object({ name: z.string(), value: z.string() })),
      provideClusterInfo: flag,
      installHint: words,
      interactiveMode: words,
    })
    .nullish(),
  as: words,
  'as-uid': words,
  'as-groups': z.unknown().optional(),
  'as-user-extra': z.unknown().optional(),
  'auth-provider': z.unknown().optional(),
})

const Context = z.object({ cluster: words, user: words, namespace: words })

export type Kubeconfig = z.infer<typeof Kubeconfig>
const Kubeconfig = z.object({
  'current-context': words,
  clusters: listOf(z.object({ name: z.string(), cluster: orEmpty(Cluster) })),
  users: listOf(z.object({ name: z.string(), user: orEmpty(User) })),
  contexts: listOf(z.object({ name: z.string(), context: orEmpty(Context) })),
})

// `where` is what it is called in a sentence.
export function parseKubeconfig(text: string, where: string): Kubeconfig {
  const { data, error } = Kubeconfig.safeParse(readYaml(text, where) ?? {})
  if (data) return data
  const complaints = error.issues.map(({ path, message }) => `${path.join('.') || 'all of it'}: ${message}`)
  throw new Error(`${where} is not as kubectl writes one: ${complaints.join('; ')}`)
}

// What the parser says quotes the file, and so perhaps a token: only the line is told.
function readYaml(text: string, where: string): unknown {
  const document = parseDocument(text)
  const [trouble] = document.errors
  const line = trouble?.linePos?.[0].line
  try {
    if (!trouble) return document.toJS()
  } catch {} // it is YAML, but a value begins with * and there is no such anchor
  throw new Error(`${where} is not YAML${line === undefined ? '' : `, from line ${line} on`}: correct it`)
}
