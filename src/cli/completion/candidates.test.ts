/** Tests of completion: what an unfinished command line may become, and what is looked up for it. */
import { deepStrictEqual, match, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { COMMANDS } from '../command-table.ts'
import { fakeTerminal } from '../fakes/fake-terminal.ts'
import { startFixedNode } from '../fakes/fixed-node.ts'
import { Program } from '../program.ts'
import { placeOf } from './candidates.ts'

const wordsOf = (line: string) => {
  const words = line.split(' ')
  return placeOf(COMMANDS, words)
}

test('the words of commands are completed level by level', () => {
  const words = (line: string) => wordsOf(line).candidates.map(({ word }) => word)
  deepStrictEqual(words('link configuration '), ['list', 'update'])
  strictEqual(words('').includes('verify'), true)
  deepStrictEqual(words('nonsense '), [])
})

test('options are offered once, unless they may be repeated, and none behind --', () => {
  const words = (line: string) => wordsOf(line).candidates.map(({ word }) => word)
  strictEqual(words('mirror promote --force --').includes('--force'), false)
  strictEqual(words('mirror promote --').includes('--wait'), true)
  strictEqual(words('link update west --config a=1 --').includes('--config'), true)
  deepStrictEqual(words('mirror promote -- --'), [])
})

test('values of options and arguments are looked up where the node knows them', () => {
  strictEqual(wordsOf('mirror promote --link ').names, 'links')
  strictEqual(wordsOf('mirror promote --link west ').names, 'mirrors')
  strictEqual(wordsOf('mirror promote --link=we').prefix, '--link=')
  strictEqual(wordsOf('mirror describe orders ').names, undefined)
  strictEqual(wordsOf('mirror promote --wait a b ').names, 'mirrors')
  strictEqual(wordsOf('link task run west ').names, 'tasks')
  strictEqual(wordsOf('link create x --config ').names, 'files')
  deepStrictEqual(
    wordsOf('link list -o ').candidates.map(({ word }) => word),
    ['human', 'json', 'yaml'],
  )
  strictEqual(wordsOf('mirror promote --url http://x --link west ').given.get('--url'), 'http://x')
})

async function complete(url: string, ...words: string[]): Promise<{ code: number; out: string; err: string }> {
  const terminal = fakeTerminal()
  const environment = { terminal, env: { LOCKSTEP_URL: url, HOME: '/nonexistent' } }
  const code = await new Program(environment, '1').run(['__complete', ...words])
  return { code, ...terminal.written }
}

test('names come from the node, without those that are there already', async () => {
  const node = await startFixedNode()
  try {
    strictEqual((await complete(node.url, 'link', 'describe', 'w')).out, 'west\n')
    strictEqual((await complete(node.url, 'mirror', 'pause', '--link', 'west', 'orders', '')).out, 'payments\n')
    strictEqual((await complete(node.url, 'mirror', 'pause', '--link=w')).out, '--link=west\n')
    strictEqual((await complete(node.url, 'explain', '--link', 'west', 's')).out, 'secret-orders\n')
    match((await complete(node.url, 'topic', '')).out, /^list\tlist topics\ndescribe\t/)
  } finally {
    await node.close()
  }
})

test('a completion without a node is silent and succeeds', async () => {
  const nothing = { code: 0, out: '', err: '' }
  deepStrictEqual(await complete('http://127.0.0.1:1', 'link', 'describe', ''), nothing)
  deepStrictEqual(await complete('not a url', 'link', 'describe', ''), nothing)
})
