// Texts that people read, kept to the room there is for them. Pure.

// To so many bytes of UTF-8, never within a character, with a sign that there was more.
export function shortened(text: string, mostBytes: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= mostBytes) return text
  let end = mostBytes - Buffer.byteLength('…')
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return `${bytes.toString('utf8', 0, end)}…`
}

// "a, b, c and 7 more"
export function listed(items: readonly string[], most = 10, between = ', '): string {
  const more = items.length - most
  return more > 0 ? `${items.slice(0, most).join(between)} and ${more} more` : items.join(between)
}
