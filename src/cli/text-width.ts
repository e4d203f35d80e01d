/** How wide text is on a terminal, and its wrapping. Pure; called by table-layout and the live views. */

const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}]/u
const ZERO = /[\p{Mn}\p{Me}\p{Cf}]/u

/** Columns that `text` takes: two for wide characters, none for combining ones. */
export function displayWidth(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length
  let width = 0
  for (const character of text) width += ZERO.test(character) ? 0 : WIDE.test(character) ? 2 : 1
  return width
}

export const longestWord = (text: string): number => Math.max(...text.split(' ').map(displayWidth))

/** Breaks between words, and within words that are wider than `width`. */
export function wrapText(text: string, width: number): string {
  if (displayWidth(text) <= width) return text
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ').flatMap(word => pieces(word, width))) {
    const longer = line === '' ? word : `${line} ${word}`
    if (displayWidth(longer) <= width) line = longer
    else {
      if (line !== '') lines.push(line)
      line = word
    }
  }
  return [...lines, line].join('\n')
}

/** Cut to `width`, with a sign that something is missing. */
export function cutText(text: string, width: number): string {
  if (displayWidth(text) <= width) return text
  let cut = ''
  for (const character of text) {
    if (displayWidth(cut + character) >= width) break
    cut += character
  }
  return width > 0 ? `${cut}…` : ''
}

export const padStart = (text: string, width: number): string =>
  ' '.repeat(Math.max(0, width - displayWidth(text))) + text
export const padEnd = (text: string, width: number): string =>
  text + ' '.repeat(Math.max(0, width - displayWidth(text)))

function pieces(word: string, width: number): string[] {
  if (displayWidth(word) <= width) return [word]
  const all = ['']
  for (const character of word) {
    const last = all.length - 1
    if (displayWidth((all[last] ?? '') + character) > width) all.push(character)
    else all[last] += character
  }
  return all
}
