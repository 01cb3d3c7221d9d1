// Tar archives made by hand, so that they can hold what no program would pack.

export interface Packed {
  readonly path: string
  readonly text?: string
  readonly type?: string // 0: a file, 5: a folder, 2: a link, x: pax records, L: a long name
  readonly mode?: number
  readonly link?: string
}

export function aTar(...entries: readonly Packed[]): Buffer {
  return Buffer.concat([...entries.map(packed), Buffer.alloc(1024)])
}

function packed({ path, text = '', type = '0', mode = 0o644, link = '' }: Packed): Buffer {
  const content = Buffer.from(text)
  const header = Buffer.alloc(512)
  header.write(path, 0, 100)
  header.write(mode.toString(8).padStart(7, '0'), 100)
  header.write(content.length.toString(8).padStart(11, '0'), 124)
  header.write(' '.repeat(8), 148)
  header.write(type, 156)
  header.write(link, 157, 100)
  header.write('ustar', 257)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return Buffer.concat([header, content, Buffer.alloc((512 - (content.length % 512)) % 512)])
}

// A pax record counts its own length.
export function paxRecord(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`
  const length = Buffer.byteLength(rest)
  const digits = String(length + String(length).length).length
  return `${length + digits}${rest}`
}
