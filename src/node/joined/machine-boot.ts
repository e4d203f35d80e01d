/** Tells one run of the machine from the next: what a process wrote survives its own death, not that of the machine. Read when a joined node starts. */
import { readFile } from 'node:fs/promises'

const BOOT_ID_FILE = '/proc/sys/kernel/random/boot_id'

/** undefined where the system does not tell. */
export async function machineBootId(): Promise<string | undefined> {
  const text = await readFile(BOOT_ID_FILE, 'utf8').catch(() => '')
  return text.trim() || undefined
}
