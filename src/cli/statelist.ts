// capt state list: the state of an apply as it is, and the copies there are of it, as lines.
import { countIn } from '../terraform/state.ts'
import type { StateCopy } from '../terraform/statecopy.ts'
import type { State } from '../terraform/statesecret.ts'
import { padded, widthOf } from './columns.ts'
import { Complaint } from './complaint.ts'
import { type Asked, findStates, stateNow, tellApply } from './statefind.ts'

export async function listStates(asked: Asked): Promise<string> {
  const states = await findStates(asked)
  const { apply, copies, key } = states
  if (!apply && copies.length === 0) throw new Complaint(`there is no ${tellApply(asked)}, and no copy of its state`)
  const now = key ? tellState(await stateNow(asked, key)) : 'where the state is, no copy says'
  if (copies.length === 0) return `${now}\nno copies: the engine makes one with each apply, of states in this cluster\n`
  return `${now}\n\n${table(copies)}\n`
}

export function tellState({ where, head, text }: State): string {
  if (head === 'absent') return `${where}: there is no state`
  if (head === 'damaged') return `${where}: what is there cannot be read`
  return `${where}: serial ${head.serial}, ${tellCount(countIn(text))}, lineage ${head.lineage}`
}

export function tellCount(resources: number | undefined): string {
  if (resources === undefined) return 'resources that cannot be seen'
  return resources === 1 ? '1 resource' : `${resources} resources`
}

function table(copies: readonly StateCopy[]): string {
  const rows = [
    ['COPY', 'TAKEN', 'SERIAL', 'RESOURCES', 'REVISION', 'LINEAGE'],
    ...copies.map(({ id, takenAt, serial, resources, revision, taken = 'before', lineage }) => [
      id,
      `${takenAt.slice(0, 19)}Z`,
      `${serial}`,
      `${resources ?? '?'}`,
      revision ? `${taken} ${revision.slice(0, 12)}` : '',
      lineage,
    ]),
  ]
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => widthOf(row[column] ?? '')))) ?? []
  return rows
    .map((row) =>
      row
        .map((cell, column) => padded(cell, widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
