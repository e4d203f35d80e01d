#!/usr/bin/env node
/** The binary: `server` and `demo` start nodes, everything else is a client of the REST API. */
import { enableCompileCache } from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'

// Compiled code is kept for the next start, which it makes a third shorter; without a place for it nothing changes.
enableCompileCache(join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'lockstep'))

const { runBinary } = await import('./run-binary.ts')
await runBinary(process.argv.slice(2))
