/** Ports that are given to nobody else. */
import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { runTool } from './child-process.ts'
import { freePorts, guardOf, tryConnect } from './free-port.ts'

test('ports are given once, whether or not anybody listens on them', async () => {
  const ports = (await Promise.all([freePorts(60), freePorts(3), freePorts(60)])).flat()
  strictEqual(new Set(ports).size, 123)
})

test('a port belongs to a process that listens on the first one of its block, and nobody listens on the port', async () => {
  const [port = 0] = await freePorts(1)
  await tryConnect(guardOf(port))
  await rejects(tryConnect(port))
})

test('another process is given ports of other blocks', async () => {
  const here = await freePorts(5)
  const program = `import { freePorts } from '${import.meta.resolve('./free-port.ts')}'
    console.log(JSON.stringify(await freePorts(5)))`
  const { stdout } = await runTool(process.execPath, ['--input-type=module', '--eval', program])
  const there: number[] = JSON.parse(stdout)
  strictEqual(there.length, 5)
  const blocks = new Set(here.map(guardOf))
  deepStrictEqual(
    there.filter(port => blocks.has(guardOf(port))),
    [],
  )
})
