/** The golden files of the command line: what every command prints, for people and machines, narrow and wide, and its help. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { COMMANDS } from './command-table.ts'
import { CASES, goldenFiles } from './fakes/golden-cases.ts'

let made: Promise<Map<string, string>> | undefined
function printed(): Promise<Map<string, string>> {
  made ??= goldenFiles()
  return made
}

const folder = new URL('golden/', import.meta.url)

test('every command is shown in a golden file', () => {
  deepStrictEqual(Object.keys(CASES).sort(), COMMANDS.map(({ path }) => path).sort())
})

test('commands print what the golden files say (after a wanted change: npm run golden -- --update)', async () => {
  const files = await printed()
  deepStrictEqual([...files.keys()].sort(), readdirSync(folder).sort())
  for (const [name, text] of files) strictEqual(text, readFileSync(new URL(name, folder), 'utf8'), name)
})

test('no line but those of events is wider than the screen', async () => {
  for (const [name, text] of await printed()) {
    if (name === 'events.txt') continue
    const narrow = text.split(/^(?=\$ lockstep )/m).filter(part => part.includes('   # 80 columns\n'))
    for (const line of narrow.flatMap(part => part.split('\n').slice(1)).filter(line => !/^[!?]/.test(line)))
      strictEqual(line.length <= 80, true, `${name}: ${line}`)
  }
})
