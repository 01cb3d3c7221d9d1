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
  let scrubbed = text
  for (const known of patternsOf(secrets)) scrubbed = scrubbed.replace(known, mask)
  for (const [look, rest] of looks) scrubbed = scrubbed.replace(look, rest)
  return scrubbed
}

// Longest first: one secret may hold another.
function patternsOf(secrets: readonly string[]): readonly RegExp[] {
  const spellings = new Set(secrets.flatMap(spellingsOf).filter((each) => each.length >= shortest))
  return [...spellings].toSorted((a, b) => b.length - a.length).map(asPrinted)
}

// As it is, as texts are written in JSON and HCL, and each of its lines: errors quote sources line by line.
function spellingsOf(secret: string): readonly string[] {
  const lines = secret.split('\n').map((line) => line.trim())
  return [secret.trim(), JSON.stringify(secret).slice(1, -1), ...lines.filter((line) => line.length >= shortestLine)]
}

// Terraform wraps what it prints, with a bar before each line.
function asPrinted(secret: string): RegExp {
  return new RegExp(secret.split(/\s+/).map(literally).join('[\\s│]+'), 'g')
}

function literally(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
}
