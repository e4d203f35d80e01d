// Makes sure that the page that nodes of this clone serve is built from what is there; suites call it before they start one.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { repositoryRoot } from '../cache.ts'

export const ensureBuiltPage = (): void =>
  void execFileSync(process.execPath, [join(repositoryRoot, 'scripts/build-page.ts'), '--if-changed'], {
    stdio: 'inherit',
  })
