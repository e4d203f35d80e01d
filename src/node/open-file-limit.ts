/** How many files of logs may stay open at once: read from the limits of this process when the node starts. */
import { readFileSync } from 'node:fs'

const FILES_MAX = 2000
/** Where the system does not tell its limit. */
const LIMIT_DEFAULT = 1024

/** Half of what the process may open, at most 2 000: the other half is for connections. Node has raised the soft limit to the hard one. */
export function openFilesMax(): number {
  return Math.min(FILES_MAX, Math.floor(descriptorLimit() / 2))
}

function descriptorLimit(): number {
  try {
    const limit = /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
    return limit === 'unlimited' ? Number.POSITIVE_INFINITY : Number(limit ?? LIMIT_DEFAULT)
  } catch {
    return LIMIT_DEFAULT
  }
}
