/** The commands to paste. */
import { deepStrictEqual, match } from 'node:assert/strict'
import { test } from 'node:test'
import { readyCommands } from './ready-commands.ts'

const places = { url: 'http://127.0.0.1:8090', kafka: '127.0.0.1:9092', link: 'west', topic: 'orders' }

test('in a clone the launcher is used, and the source can be killed', () => {
  deepStrictEqual(
    readyCommands({
      ...places,
      entry: '/somewhere/src/bin/lockstep.ts',
      source: { name: 'west', pid: 4711 },
    }).filter(line => !line.startsWith('#')),
    [
      './lockstep --url http://127.0.0.1:8090 mirror list',
      './lockstep --url http://127.0.0.1:8090 mirror describe orders --link west',
      'kcat -b 127.0.0.1:9092 -C -t orders -e',
      'echo hello | kcat -b 127.0.0.1:9092 -P -t orders',
      'kill -9 4711',
      './lockstep --url http://127.0.0.1:8090 mirror failover orders --link west --force --wait',
      'echo hello | kcat -b 127.0.0.1:9092 -P -t orders',
    ],
  )
})

test('the page comes first', () =>
  match(readyCommands({ ...places, entry: 'lockstep.ts' })[0] ?? '', /^# in a browser: http:\/\/127\.0\.0\.1:8090\/ /))

test('an installed package uses its binary, and somebody else’s source is left alone', () => {
  deepStrictEqual(
    readyCommands({ ...places, link: 'source', entry: '/usr/lib/node_modules/.bin/lockstep' }).filter(
      line => !line.startsWith('#'),
    ),
    [
      'lockstep --url http://127.0.0.1:8090 mirror list',
      'lockstep --url http://127.0.0.1:8090 mirror describe orders --link source',
      'kcat -b 127.0.0.1:9092 -C -t orders -e',
      'lockstep --url http://127.0.0.1:8090 mirror failover orders --link source --force --wait',
      'echo hello | kcat -b 127.0.0.1:9092 -P -t orders',
    ],
  )
})
