// After all other stories: what CAPT's manager and its engine did, in all of them together, is what their roles allow, no less
// and no more.
import { readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { describe, expect, inject, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { engineAccount } from '../../scripts/generated/enginemanifest.ts'
import { serviceAccount } from '../../scripts/generated/rbac.ts'
import { type AuditRecord, lentAudits, readAudit } from '../bed/audit.ts'
import { engineUser } from '../bed/engine.ts'
import { managerUser } from '../bed/manager.ts'

interface Rule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
  readonly resourceNames?: readonly string[]
}

interface Role {
  readonly rules?: readonly Rule[]
}

interface Binding {
  readonly roleRef?: { readonly kind: string; readonly name: string }
  readonly subjects?: readonly { readonly name: string }[]
  readonly metadata: { readonly name: string; readonly namespace?: string }
}

type Document = Role & Binding & { readonly kind: string }

const root = resolve(import.meta.dirname, '../..')
const bed = inject('bed') as ReturnType<typeof inject<'bed'>> | undefined // there is none when no story runs
const untold = bed ? inject('untold').map((file) => relative(root, file)) : ['every story']
const records = bed
  ? (await Promise.all([bed.auditLog, ...(await lentAudits(bed))].map(async (log) => readAudit(log)))).flat()
  : []

// Some stories alone use only some rights: what was not used tells nothing then.
if (untold.length > 0) console.log(`rights that nobody used are not judged: this run leaves out ${untold.join(', ')}`)

describe.each([
  { who: 'the manager', user: managerUser, account: serviceAccount, file: 'manifests/rbac.yaml' },
  { who: 'the engine', user: engineUser, account: engineAccount, file: 'manifests/engine/engine.yaml' },
])('$who', ({ user, account, file }) => {
  // Other paths, such as discovery, are everybody's.
  const done = records.filter((record) => record.user === user && record.resource !== '')
  // As `verb group/resource`, with a name behind it where the role has names.
  const granted = new Set(rulesFor(account, file).flatMap(grantsOf))
  const used = new Set(done.flatMap((record) => deedsOf(record).filter((each) => granted.has(each))))

  test.skipIf(!bed)('was refused nothing it asked for', () => {
    const refused = done.filter(({ code, isForbidden }) => code === 401 || isForbidden)
    expect(refused.map(({ verb, path, code }) => `${verb} ${path} ${code}`)).toEqual([])
    expect(done.length).toBeGreaterThan(0)
  })

  test.skipIf(untold.length > 0)('used every right it has', () => {
    expect([...granted].filter((each) => !used.has(each))).toEqual([])
  })
})

// Of the roles that are bound to that account.
function rulesFor(account: string, file: string): readonly Rule[] {
  const documents = parseAllDocuments(readFileSync(join(root, file), 'utf8')).map((each) => each.toJS() as Document)
  const isBound = (role: Document) =>
    documents.some(
      ({ roleRef, subjects, metadata }) =>
        roleRef?.kind === role.kind &&
        roleRef.name === role.metadata.name &&
        metadata.namespace === role.metadata.namespace &&
        subjects?.some(({ name }) => name === account),
    )
  return documents.filter(isBound).flatMap(({ rules = [] }) => rules)
}

function grantsOf({ apiGroups, resources, verbs, resourceNames = [''] }: Rule): readonly string[] {
  return apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      verbs.flatMap((verb) => resourceNames.map((name) => `${verb} ${group}/${resource} ${name}`.trim())),
    ),
  )
}

function deedsOf({ verb, group, resource, name, code }: AuditRecord): readonly string[] {
  const verbs = verb === 'patch' && code === 201 ? ['patch', 'create'] : [verb] // an apply that made the object
  const deeds = verbs.map((each) => `${each} ${group}/${resource}`)
  return deeds.flatMap((deed) => [deed, `${deed} ${name}`])
}
