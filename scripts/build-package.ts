/** Fills dist/ with what the npm package holds beside its documents; called by `npm run build` and, through `prepack`, by `npm pack` and `npm publish`. */
import { execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { commitOfBuild } from '../src/node/version.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = join(root, 'dist')

/** What an earlier build left behind would be packed, too. */
function clear(): void {
  rmSync(dist, { recursive: true, force: true })
}

/** The product as JavaScript with its declarations. */
function emit(): void {
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  execFileSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], { cwd: root, stdio: ['ignore', 2, 2] })
}

/** A package has no git folder that could tell its commit. */
function noteCommit(): void {
  const commit = commitOfBuild()
  if (commit !== undefined) writeFileSync(join(dist, 'build.json'), `${JSON.stringify({ commit })}\n`)
}

/** Beside the product, where nodes of a package find it. */
function buildPage(): void {
  const script = join(root, 'scripts/build-page.ts')
  execFileSync(process.execPath, [script, '--out', join(dist, 'web')], { cwd: root, stdio: ['ignore', 2, 2] })
}

for (const step of [clear, emit, buildPage, noteCommit]) step()
