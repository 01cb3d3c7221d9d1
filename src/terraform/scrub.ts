// Takes secrets out of what programs print: values that are known to be secret, and what looks like one. Pure. It is the last
// of several nets, not the only one: what no pattern knows and nobody names stays.

const mask = '***'
const shortest = 4 // a shorter value is in half of all words, and nobody could read what is left
const shortestLine = 8 // of a longer secret

// What looks like a secret, and what is left of it.
const looks: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[^]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, mask],
  [/\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, mask], // AWS access key ids
  [/\b(?:FwoG|IQoJ)[A-Za-z0-9/+=]{50,}/g, mask], // AWS session tokens
  // AWS secret keys: 40 of these characters, of every sort. A hash of a commit has no capital letters.
  [
    /(?<![A-Za-z0-9/+=])(?=[A-Za-z/+]{0,39}[0-9])(?=[a-z0-9/+]{0,39}[A-Z])(?=[A-Z0-9/+]{0,39}[a-z])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])/g,
    mask,
  ],
  [/\b(X-Amz-(?:Signature|Security-Token|Credential)=)[^&\s"']+/gi, `$1${mask}`],
  [/\beyJ[A-Za-z0-9_-]{8,512}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*/g, mask], // JSON web tokens
  [/\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{20,})/g, mask],
  [/\b((?:Bearer|Basic)\s+)[A-Za-z0-9._~+/=-]{8,}/gi, `$1${mask}`],
  [/(:\/\/[^\s/:@"']{0,256}:)[^\s/@"']{1,256}@/g, `$1${mask}@`],
  [
    /((?:passw(?:or)?d|secret|token|api_?key|private_?key|access_?key)[\w-]{0,64}"?\s{0,8}[=:]\s{0,8})"(?:[^"\\\n]|\\.)*"/gi,
    `$1"${mask}"`,
  ],
  [/((?:passw(?:or)?d|secret|token|api_?key|private_?key|access_?key)[\w-]{0,64}=)[^\s"',]+/gi, `$1${mask}`],
]

export function scrub(text: string, secrets: readonly string[] = []): string {
  let scrubbed = withoutKnown(text, secrets)
  for (const [look, rest] of looks) scrubbed = scrubbed.replace(look, rest)
  return scrubbed
}

// Terraform wraps what it prints, with a bar before each line: any such gap is as one space, in secrets as in the text.
const gap = /[\s│]+/g

// A long secret is looked for in pieces of this length: they are found where output was cut in its middle, too.
const piece = 64

function withoutKnown(text: string, secrets: readonly string[]): string {
  const known = text === '' ? [] : needlesOf(secrets)
  if (known.length === 0) return text
  const { flat, at } = flattened(text)
  let [scrubbed, from] = ['', 0]
  for (const [begin, end] of found(flat, known)) {
    scrubbed += text.slice(from, at[begin]) + mask
    from = (at[end - 1] ?? text.length) + 1
  }
  return scrubbed + text.slice(from)
}

// The text with one space for each gap, and where each of its characters is in the text.
function flattened(text: string): { readonly flat: string; readonly at: Uint32Array } {
  const at = new Uint32Array(text.length)
  const parts: string[] = []
  let length = 0
  const take = (from: number, to: number) => {
    for (let index = from; index < to; index++) at[length++] = index
  }
  let from = 0
  for (const { index, 0: spaces } of text.matchAll(gap)) {
    parts.push(text.slice(from, index), ' ')
    take(from, index + 1)
    from = index + spaces.length
  }
  parts.push(text.slice(from))
  take(from, text.length)
  return { flat: parts.join(''), at }
}

// In the order of the alphabet, each with the longest other one that it begins with.
interface Needle {
  readonly text: string
  readonly within: Needle | undefined
}

function needlesOf(secrets: readonly string[]): readonly Needle[] {
  const flat = secrets.flatMap(spellingsOf).map((each) => each.replace(gap, ' ').trim())
  const texts = new Set(flat.filter((each) => each.length >= shortest).flatMap(piecesOf))
  const begun: Needle[] = []
  return [...texts].toSorted().map((text) => {
    while (begun.length > 0 && !text.startsWith(begun.at(-1)?.text ?? '')) begun.pop()
    const needle = { text, within: begun.at(-1) }
    begun.push(needle)
    return needle
  })
}

// As it is, as texts are written in JSON and HCL, and each of its lines: errors quote sources line by line.
function spellingsOf(secret: string): readonly string[] {
  const lines = secret.split('\n').map((line) => line.trim())
  return [secret, JSON.stringify(secret).slice(1, -1), ...lines.filter((line) => line.length >= shortestLine)]
}

// The last one is as long as the others, and shares something with the one before.
function piecesOf(text: string): readonly string[] {
  if (text.length <= piece) return [text]
  const starts = Array.from({ length: Math.ceil(text.length / piece) }, (_, index) => index * piece)
  return starts.map((start) => text.slice(Math.min(start, text.length - piece)).slice(0, piece))
}

// Every stretch that is covered by needles. There may be many thousands of both: a place is looked at closer only when a needle
// begins with its four characters.
function* found(text: string, needles: readonly Needle[]): Generator<readonly [begin: number, end: number]> {
  const beginnings = new Uint8Array(2 ** 20)
  for (const needle of needles) beginnings[placeOf(needle.text, 0)] = 1
  let [begin, end] = [0, 0]
  for (let at = 0; at + shortest <= text.length; at++) {
    if (beginnings[placeOf(text, at)] === 0) continue
    const { length } = longestAt(text, at, needles)
    if (length === 0) continue
    if (at > end) {
      if (end > begin) yield [begin, end]
      begin = at
    }
    end = Math.max(end, at + length)
  }
  if (end > begin) yield [begin, end]
}

function placeOf(text: string, at: number): number {
  let place = 0
  for (let index = at; index < at + shortest; index++) place = Math.imul(place, 769) + text.charCodeAt(index)
  return place & (2 ** 20 - 1)
}

// Of all needles, only the last that is not behind this place in the alphabet, and what that begins with, can be here.
function longestAt(text: string, at: number, needles: readonly Needle[]): string {
  const here = text.slice(at, at + piece)
  let [low, high] = [0, needles.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((needles[middle]?.text ?? '') <= here) low = middle + 1
    else high = middle
  }
  let needle = needles[low - 1]
  while (needle && !here.startsWith(needle.text)) needle = needle.within
  return needle?.text ?? ''
}
