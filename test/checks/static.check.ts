/** Static checks as tests, so that they share the runner's summary: format and lint, types, dead code, generated docs. */
import { strictEqual } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { test } from 'node:test'

function succeeds(command: string, args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    child.stdout.on('data', chunk => (output += chunk))
    child.stderr.on('data', chunk => (output += chunk))
    child.on('error', reject)
    child.on('close', code => {
      try {
        strictEqual(code, 0, output)
        resolve()
      } catch (error) {
        reject(error)
      }
    })
  })
}

test('Biome finds nothing to format or to lint', () =>
  succeeds('node_modules/.bin/biome', ['check', '--error-on-warnings', '.']))
test('the types check', () => succeeds(process.execPath, ['node_modules/typescript/bin/tsc', '-p', '.']))
test('the types of the page check', () =>
  succeeds(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'src/page']))
test('knip finds no dead code and no unused dependency', () => succeeds('node_modules/.bin/knip', ['--no-progress']))
test('the generated docs are fresh', () => succeeds(process.execPath, ['scripts/generate-docs.ts', '--check']))
