// Reads a tar archive of plain files and folders: ustar, with the extensions for long names of pax and GNU. Strict: a name that
// leads out of the archive, or a link, is refused, not passed over. Pure.

export interface Entry {
  readonly path: string
  readonly content: Buffer
  readonly mode: number
}

const block = 512
const most = 20_000 // entries

export function readTar(archive: Buffer): readonly Entry[] {
  const entries: Entry[] = []
  let longName: string | undefined
  for (let at = 0; at + block <= archive.length; ) {
    const header = archive.subarray(at, at + block)
    if (header.every((byte) => byte === 0)) break
    checkSum(header)
    const size = octal(header, 124, 12)
    const content = archive.subarray(at + block, at + block + size)
    if (content.length < size) throw new Error('the archive ends in the middle of a file')
    at += block + Math.ceil(size / block) * block
    switch (String.fromCharCode(header[156] ?? 0)) {
      case 'x':
        longName = paxPath(content) ?? longName
        continue
      case 'L':
        longName = text(content, 0, size)
        continue
      case 'g':
        continue
      case '5':
        break
      case '0':
      case '\0': {
        const path = safe(longName ?? nameOf(header))
        if (entries.length === most) throw new Error(`the archive holds more than ${most} files`)
        entries.push({ path, content, mode: octal(header, 100, 8) & 0o777 })
        break
      }
      default:
        throw new Error(`the archive holds ${longName ?? nameOf(header)}, which is neither a file nor a folder`)
    }
    longName = undefined
  }
  return entries
}

function nameOf(header: Buffer): string {
  const isUstar = text(header, 257, 5) === 'ustar'
  const prefix = isUstar ? text(header, 345, 155) : ''
  return prefix ? `${prefix}/${text(header, 0, 100)}` : text(header, 0, 100)
}

function safe(name: string): string {
  const parts = name.split('/').filter((part) => part !== '' && part !== '.')
  if (name.startsWith('/') || parts.length === 0 || parts.includes('..') || name.includes('\\')) {
    throw new Error(`the archive holds ${JSON.stringify(name)}, which leads out of it`)
  }
  return parts.join('/')
}

// "27 path=some/long/name\n", the number counting the whole record.
function paxPath(records: Buffer): string | undefined {
  let path: string | undefined
  for (let at = 0; at < records.length; ) {
    const length = Number.parseInt(text(records, at, 20), 10)
    if (!(length > 0)) break
    const record = records.toString('utf8', at, at + length)
    const [, key, value] = /^\d+ ([^=]+)=([^]*)\n$/.exec(record) ?? []
    if (key === 'path') path = value
    at += length
  }
  return path
}

function checkSum(header: Buffer): void {
  let sum = 0
  for (const [index, byte] of header.entries()) sum += index >= 148 && index < 156 ? 0x20 : byte
  if (sum !== octal(header, 148, 8)) throw broken()
}

function broken(): Error {
  return new Error('it is not a tar archive, or a broken one')
}

function octal(buffer: Buffer, at: number, length: number): number {
  const digits = text(buffer, at, length).trim()
  if (!/^[0-7]*$/.test(digits)) throw broken()
  return Number.parseInt(digits || '0', 8)
}

function text(buffer: Buffer, at: number, length: number): string {
  const field = buffer.subarray(at, at + length)
  const end = field.indexOf(0)
  return field.toString('utf8', 0, end < 0 ? field.length : end)
}
