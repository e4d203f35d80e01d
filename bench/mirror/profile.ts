/** Sums up a V8 CPU profile of one stretch of time: which functions the process spent it in, without what they called. */
import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'

interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number }
  }[]
  /** Monotonic microseconds. */
  readonly startTime: number
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

export interface SelfTime {
  readonly where: string
  /** Of the time in which the main thread was not idle. */
  readonly share: number
}

/** Stretches of monotonic microseconds. */
export type Stretch = { readonly beganUs: number; readonly endedUs: number }

const TOP = 25

/** Reads the only profile in the folder. */
export async function topSelfTimes(folder: string, stretches: readonly Stretch[]): Promise<SelfTime[]> {
  const [file] = (await readdir(folder)).filter(name => name.endsWith('.cpuprofile'))
  if (!file) throw new Error(`no CPU profile in ${folder}`)
  const profile = JSON.parse(await readFile(join(folder, file), 'utf8')) as CpuProfile
  const names = new Map(profile.nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]))
  const times = new Map<string, number>()
  let atUs = profile.startTime
  let busyUs = 0
  for (const [index, id] of profile.samples.entries()) {
    const deltaUs = profile.timeDeltas[index] ?? 0
    atUs += deltaUs
    const name = names.get(id) ?? ''
    if (name === '(idle)' || !stretches.some(({ beganUs, endedUs }) => atUs >= beganUs && atUs <= endedUs)) continue
    busyUs += deltaUs
    times.set(name, (times.get(name) ?? 0) + deltaUs)
  }
  return [...times]
    .sort((a, b) => b[1] - a[1])
    .slice(0, TOP)
    .map(([where, us]) => ({ where, share: us / busyUs }))
}

function nameOf({ functionName, url, lineNumber }: CpuProfile['nodes'][number]['callFrame']): string {
  const name = functionName === '' ? '(anonymous)' : functionName
  return url === '' ? name : `${name} ${basename(url)}:${lineNumber + 1}`
}
