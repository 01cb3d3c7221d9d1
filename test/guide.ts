// Runs commands as a guide gives them, so that what people copy is what was tried.
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Bed } from './bed/bed.ts'
import { runCommand } from './bed/command.ts'

const guides = resolve(import.meta.dirname, '../docs/guide')

// The only command with that text in it, in that namespace. `instead`: what people put in the place of words of the guide; `folder`: where they
// are.
export async function asGuided(
  bed: Bed,
  guide: string,
  namespace: string,
  text: string,
  { folder = bed.folder, instead = {} }: { folder?: string; instead?: Readonly<Record<string, string>> } = {},
): Promise<string> {
  const blocks = (await readFile(join(guides, guide), 'utf8')).matchAll(/^```sh\n(?<lines>.*?)^```/gms)
  const lines = [...blocks].flatMap(({ groups }) => groups?.['lines']?.split('\n') ?? [])
  const [command, ...others] = lines.filter((line) => line.includes(text))
  if (command === undefined || others.length > 0)
    throw new Error(`docs/guide/${guide} has ${others.length} commands beside ${command ?? 'none'} with ${text}`)
  const meant = Object.entries(instead).reduce((told, [word, other]) => told.replaceAll(word, other), command)
  const env = {
    PATH: `${bed.bin}:${process.env['PATH']}`,
    KUBECONFIG: bed.kubeconfig,
    HOME: bed.folder,
    CLUSTERCTL_DISABLE_VERSIONCHECK: 'true',
  }
  const there = meant
    .replace(/^kubectl /, `kubectl --namespace ${namespace} `)
    .replace(/^capt [^#]*/, (words) => `${words.trimEnd()} --namespace ${namespace} `)
  return runCommand('sh', ['-c', `cd "$0" && ${there}`, folder], { env })
}
