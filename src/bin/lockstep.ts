#!/usr/bin/env node
/** The binary: `server` and `demo` start nodes, everything else is a client of the REST API. */
import * as module from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
// An npm that installs only warns; what an old Node says of the first file that it does not understand helps nobody.
if (major < 24 || (major === 24 && minor < 12)) {
  process.stderr.write(`Error: lockstep needs Node 24.12 or newer, this is ${process.versions.node}\n`)
  process.exit(1)
}

// Compiled code is kept for the next start, which it makes a third shorter; without a place for it nothing changes.
module.enableCompileCache(join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'lockstep'))

const { runBinary } = await import('./run-binary.ts')
await runBinary(process.argv.slice(2))
