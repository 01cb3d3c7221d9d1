// Text in columns of a terminal: how many it takes, and how it is kept to so many. Pure.
import { stripVTControlCharacters } from 'node:util'

export function padded(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)))
}

export function cutTo(text: string, width: number): string {
  let taken = 0
  let shown = ''
  for (const letter of text) {
    taken += widthOf(letter)
    if (taken > width) return shown
    shown += letter
  }
  return shown
}

// At spaces; within a word only when it is wider than a line.
export function wrapped(text: string, width: number): readonly string[] {
  return text.split('\n').flatMap((paragraph) => {
    const lines: string[] = []
    let line = ''
    for (const word of paragraph.trimEnd().split(/(?<=\S)\s+/)) {
      const longer = line ? `${line} ${word}` : word
      if (widthOf(longer) <= width) {
        line = longer
        continue
      }
      if (line) lines.push(line)
      line = word
      for (let head = cutTo(line, width); widthOf(line) > width && head; head = cutTo(line, width)) {
        lines.push(head)
        line = line.slice(head.length)
      }
    }
    return [...lines, line]
  })
}

const twoWide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/gu

// How many columns a text takes: those of East Asia take two each.
export function widthOf(text: string): number {
  const shown = stripVTControlCharacters(text)
  return Array.from(shown).length + (shown.match(twoWide)?.length ?? 0)
}
