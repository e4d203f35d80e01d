/** Kafka's text checkpoints: a version, a count, one entry per line; the epoch cache and the log store read and write them. */

/** Entries as lines of space-separated words. Version 0 is the only one. */
export const formatCheckpoint = (lines: readonly string[]): string => `${[0, lines.length, ...lines].join('\n')}\n`

/** The entries' words; undefined if the text is not a complete checkpoint of `wordsPerLine` words a line. */
export function parseCheckpoint(text: string, wordsPerLine: number): string[][] | undefined {
  const lines = text.split('\n').filter(line => line !== '')
  const [version, count, ...entries] = lines
  if (version !== '0' || count !== String(entries.length)) return undefined
  const words = entries.map(line => line.split(/\s+/))
  return words.every(entry => entry.length === wordsPerLine) ? words : undefined
}
