/** Every command block of README.md and docs/ that is not marked as not run, or as another suite's, in its order, on nodes of this machine. */
import { equal, ok } from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { type Block, blocksOf, documents } from '../documents/command-blocks.ts'
import { DocumentShell } from '../documents/document-shell.ts'
import { eventually } from '../eventually.ts'
import { freePorts } from '../free-port.ts'
import { LockstepNode } from '../lockstep-process.ts'
import { skipWithout } from '../requirements.ts'

const LEFT_OUT = ['not-run', 'runbook', 'package']
const toRun = (file: string) =>
  blocksOf(file).filter(({ language, flags }) => language === 'sh' && !flags.some(flag => LEFT_OUT.includes(flag)))

/** What documents write, and what it is here. */
type Names = Readonly<Record<string, string>>

function withNames(block: Block, names: Names): Block {
  const text = Object.entries(names).reduce((told, [written, here]) => told.replaceAll(written, here), block.text)
  return { ...block, text }
}

async function runBlocks(file: string, place: { folder: string; names: Names; env: NodeJS.ProcessEnv }): Promise<void> {
  const { folder, names, env } = place
  const shell = await DocumentShell.open(folder, env)
  try {
    for (const written of toRun(file)) {
      const block = withNames(written, names)
      const { failed, output } = await shell.run(block)
      const about = `${file}:${block.line}: ${failed}\n${output}`
      if (block.flags.includes('fails')) ok(failed !== '', `${about} was not refused`)
      else equal(failed, '', about)
      if (block.flags.includes('background')) await ready(block, shell)
    }
  } finally {
    await shell.close()
  }
}

/** A port that was free a moment ago was taken before the node had it. */
class NodeEnded extends Error {}

/** A reader waits for the line that says so. */
async function ready(block: Block, shell: DocumentShell): Promise<void> {
  const config = /--config (\S+)/.exec(block.text)?.[1] ?? ''
  const url = /^rest\.listeners=(.*)$/m.exec(await readFile(config, 'utf8'))?.[1]
  const ended = await eventually(async () => {
    const { failed } = await shell.run({ ...block, flags: [], text: 'kill -0 $!' })
    if (failed !== '') return true
    equal((await fetch(`${url}/readyz`)).status, 200, `${block.file}:${block.line}`)
    return false
  })
  if (ended) throw new NodeEnded(`${block.file}:${block.line}: the node ended`)
}

async function withFolder(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'lockstep-documents-'))
  try {
    await use(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function tour(): Promise<void> {
  const [west, westRest, east, eastRest] = await freePorts(4)
  await withFolder(async folder => {
    const names = {
      '/tmp/lockstep-tour': join(folder, 'tour'),
      '127.0.0.1:19192': `127.0.0.1:${west}`,
      '127.0.0.1:18190': `127.0.0.1:${westRest}`,
      '127.0.0.1:19292': `127.0.0.1:${east}`,
      '127.0.0.1:18290': `127.0.0.1:${eastRest}`,
    }
    await runBlocks('README.md', { folder, names, env: {} })
  })
}

test('the tour of README.md does what it says', { skip: skipWithout('kcat') }, async () => {
  await tour().catch(error => {
    if (!(error instanceof NodeEnded)) throw error
    return tour()
  })
})

for (const file of documents().filter(name => name !== 'README.md' && toRun(name).length > 0)) {
  test(`the commands of ${file} do what it says`, async () => {
    const west = await LockstepNode.start()
    const east = await LockstepNode.start()
    try {
      for (const topic_name of ['orders', 'payments', 'clicks'])
        await west.rest.call('POST', '/topics', { topic_name, partitions_count: 2, replication_factor: 1 })
      await withFolder(async folder => {
        // In the runbooks east is the one that has the topics first.
        const names = {
          ...{ 'west1:9092': west.bootstrap, 'west2:9092': west.bootstrap },
          ...{ 'http://EAST:8090': west.rest.origin, 'EAST:9092': west.bootstrap, EAST_CLUSTER_ID: west.clusterId },
          ...{ 'http://WEST:8090': east.rest.origin, 'WEST:9092': east.bootstrap, WEST_CLUSTER_ID: east.clusterId },
        }
        await runBlocks(file, { folder, names, env: { LOCKSTEP_URL: east.rest.origin } })
      })
    } finally {
      await Promise.all([west.close(), east.close()])
    }
  })
}
