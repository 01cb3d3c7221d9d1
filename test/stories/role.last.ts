// After all other stories: what CAPT's manager did, in all of them together, is what its role allows, no less and no more.
import { readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { expect, inject, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { lentAudits, readAudit } from '../bed/audit.ts'
import { managerUser } from '../bed/manager.ts'

interface Rule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
  readonly resourceNames?: readonly string[]
}

const root = resolve(import.meta.dirname, '../..')
const bed = inject('bed') as ReturnType<typeof inject<'bed'>> | undefined // there is none when no story runs
const untold = bed ? inject('untold').map((file) => relative(root, file)) : ['every story']
const records = bed ? (await Promise.all([bed.auditLog, ...(await lentAudits(bed))].map(doneIn))).flat() : []

async function doneIn(auditLog: string) {
  const all = await readAudit(auditLog, { user: managerUser })
  return all.filter(({ resource }) => resource !== '') // other paths, such as discovery, are everybody's
}

// As `verb group/resource`, with a name behind it where the role has names.
const granted = new Set(rulesIn('manifests/rbac.yaml').flatMap(grantsOf))

function rulesIn(file: string): readonly Rule[] {
  const documents = parseAllDocuments(readFileSync(join(root, file), 'utf8'))
  return documents.flatMap((document) => (document.toJS() as { readonly rules?: readonly Rule[] }).rules ?? [])
}

function grantsOf({ apiGroups, resources, verbs, resourceNames = [''] }: Rule): readonly string[] {
  return apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      verbs.flatMap((verb) => resourceNames.map((name) => `${verb} ${group}/${resource} ${name}`.trim())),
    ),
  )
}

const used = new Set(
  records.flatMap(({ verb, group, resource, name, code }) => {
    const verbs = verb === 'patch' && code === 201 ? ['patch', 'create'] : [verb] // an apply that made the object
    const deeds = verbs.map((each) => `${each} ${group}/${resource}`)
    return deeds.flatMap((deed) => [deed, `${deed} ${name}`]).filter((each) => granted.has(each))
  }),
)

test.skipIf(!bed)('the manager was refused nothing it asked for', () => {
  const refused = records.filter(({ code }) => code === 401 || code === 403)
  expect(refused.map(({ verb, path, code }) => `${verb} ${path} ${code}`)).toEqual([])
  expect(records.length).toBeGreaterThan(0)
})

// Some stories alone use only some rights: what was not used tells nothing then.
if (untold.length > 0) console.log(`rights that nobody used are not judged: this run leaves out ${untold.join(', ')}`)

test.skipIf(untold.length > 0)('the manager used every right it has', () => {
  expect([...granted].filter((each) => !used.has(each))).toEqual([])
})
