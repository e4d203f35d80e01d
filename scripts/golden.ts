/** Compares what the command line prints with its golden files; with --update it writes them. Called by `npm run golden`. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { goldenFiles } from '../src/cli/fakes/golden-cases.ts'

const folder = fileURLToPath(new URL('../src/cli/golden/', import.meta.url))
const { values } = parseArgs({ options: { update: { type: 'boolean' } } })

const files = await goldenFiles()
mkdirSync(folder, { recursive: true })
const present = new Map(readdirSync(folder).map(name => [name, readFileSync(join(folder, name), 'utf8')]))
const changed = [...new Set([...files.keys(), ...present.keys()])].filter(name => files.get(name) !== present.get(name))
for (const name of changed) {
  const text = files.get(name)
  if (values.update !== true) console.error(`src/cli/golden/${name} is not what is printed`)
  else if (text === undefined) rmSync(join(folder, name))
  else writeFileSync(join(folder, name), text)
}
console.log(`${files.size} golden files, ${changed.length} ${values.update ? 'changed' : 'different'}`)
process.exitCode = values.update === true || changed.length === 0 ? 0 : 1
