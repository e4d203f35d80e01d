/** Writes the message tables of src/protocol from the definitions inside the Kafka jars: `node scripts/generate-messages.ts [JAR_FOLDER]`. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { kafkaJars } from '../test/kafka/jars.ts'
import { messageFiles, readDefinitions } from './messages/message-files.ts'
import { generatedLine } from './messages/table-text.ts'

const protocolFolder = fileURLToPath(new URL('../src/protocol/', import.meta.url))
const mark = generatedLine('').split(':')[0] ?? ''

const files = messageFiles(readDefinitions(process.argv[2] ?? (await kafkaJars('4.3.1'))))
for (const path of readdirSync(protocolFolder, { recursive: true, encoding: 'utf8' })) {
  const isStale =
    path.endsWith('.ts') && !files.has(path) && readFileSync(join(protocolFolder, path), 'utf8').startsWith(mark)
  if (isStale) rmSync(join(protocolFolder, path))
}
for (const [path, text] of files) {
  mkdirSync(dirname(join(protocolFolder, path)), { recursive: true })
  writeFileSync(join(protocolFolder, path), text)
}
console.log(`${files.size} files written`)
