/** Reads the entries of a jar (zip) file; used by the message generator and nothing else. */
import { readFileSync } from 'node:fs'
import { inflateRawSync } from 'node:zlib'

const END_OF_DIRECTORY = 0x06054b50
const DIRECTORY_ENTRY = 0x02014b50
const END_BYTES = 22
const STORED = 0

/** The content of every entry whose name passes the test, by name. Throws if the file is not a plain zip. */
export function jarEntries(file: string, accepts: (name: string) => boolean): Map<string, Buffer> {
  const zip = readFileSync(file)
  const end = zip.lastIndexOf(Buffer.from([0x50, 0x4b, 0x05, 0x06]))
  if (end < 0 || end + END_BYTES > zip.length || zip.readUInt32LE(end) !== END_OF_DIRECTORY) {
    throw new Error(`${file} is not a zip file`)
  }
  const entries = new Map<string, Buffer>()
  let at = zip.readUInt32LE(end + 16)
  for (let left = zip.readUInt16LE(end + 10); left > 0; left--) {
    if (zip.readUInt32LE(at) !== DIRECTORY_ENTRY) throw new Error(`${file}: broken directory at byte ${at}`)
    const nameBytes = zip.readUInt16LE(at + 28)
    const name = zip.toString('utf8', at + 46, at + 46 + nameBytes)
    if (accepts(name)) entries.set(name, content(zip, at))
    at += 46 + nameBytes + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32)
  }
  return entries
}

function content(zip: Buffer, entry: number): Buffer {
  const method = zip.readUInt16LE(entry + 10)
  const size = zip.readUInt32LE(entry + 20)
  const local = zip.readUInt32LE(entry + 42)
  const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28)
  const bytes = zip.subarray(start, start + size)
  return method === STORED ? bytes : inflateRawSync(bytes)
}
