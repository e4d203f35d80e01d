// Loaded into a node's process before all else: lets a test fill the disk, set the clock and cause a bug in it; see faults.ts.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const folder = process.env['LOCKSTEP_FAULTS'] ?? ''
const exists = (name: string): boolean => fs.statSync(`${folder}/${name}`, { throwIfNoEntry: false }) !== undefined

/** While there is a file `disk-full`, nothing can be written to files. */
const diskFull = (): Error | undefined =>
  exists('disk-full')
    ? Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
    : undefined

type Callback = (error: Error | null, written?: number) => void

const { write, writev, writeSync, writevSync } = fs
Object.assign(fs, {
  write: (...args: [number, ...unknown[]]) => {
    const full = diskFull()
    if (full && args[0] > 2) return setImmediate(() => (args.at(-1) as Callback)(full))
    return Reflect.apply(write, fs, args)
  },
  writev: (...args: [number, ...unknown[]]) => {
    const full = diskFull()
    if (full) return setImmediate(() => (args.at(-1) as Callback)(full))
    return Reflect.apply(writev, fs, args)
  },
  writeSync: (...args: [number, ...unknown[]]) => {
    const full = diskFull()
    if (full && args[0] > 2) throw full
    return Reflect.apply(writeSync, fs, args)
  },
  writevSync: (...args: [number, ...unknown[]]) => {
    const full = diskFull()
    if (full) throw full
    return Reflect.apply(writevSync, fs, args)
  },
})
syncBuiltinESMExports()

/** A file `clock` says by how many milliseconds the wall clock is wrong. */
const now = Date.now.bind(Date)
Date.now = () => now() + (exists('clock') ? Number(fs.readFileSync(`${folder}/clock`, 'utf8')) : 0)

/** A bug that nobody catches: in a callback, or in a promise. */
process.on('SIGUSR2', () => {
  if (exists('promise')) void Promise.reject(new Error('a bug in a promise'))
  else
    setImmediate(() => {
      throw new Error('a bug in a callback')
    })
})
