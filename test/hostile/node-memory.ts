// Memory of a node's process as the kernel counts it; the suites and benchmarks of hostile clients bound it.
import { readFile, writeFile } from 'node:fs/promises'

const MIB = 1024 * 1024

/** Resident memory in MiB, or undefined where /proc does not exist. */
export async function residentMib(pid: number | undefined): Promise<number | undefined> {
  return await statusField(pid, 'VmRSS')
}

/** Runs `work` and resolves to the largest resident memory in MiB while it ran, beside what `work` gave. */
export async function peakWhile<T>(pid: number | undefined, work: () => Promise<T>): Promise<[number, T]> {
  // Sets the kernel's peak back to the present.
  await writeFile(`/proc/${pid}/clear_refs`, '5').catch(() => {})
  const result = await work()
  return [(await statusField(pid, 'VmHWM')) ?? 0, result]
}

async function statusField(pid: number | undefined, field: string): Promise<number | undefined> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  const kib = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]
  return kib === undefined ? undefined : Math.round((Number(kib) * 1024) / MIB)
}
