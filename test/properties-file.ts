// Java's properties files, as Kafka, its tools and Lockstep read them; written by whoever starts one of them.
import { writeFile } from 'node:fs/promises'

/** One `name=value` per line; values are written as they are. */
export async function writeProperties(path: string, properties: Readonly<Record<string, unknown>>): Promise<void> {
  const lines = Object.entries(properties).map(([name, value]) => `${name}=${value}\n`)
  await writeFile(path, lines.join(''))
}
