/** Which files are closed when too many are open. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { OpenFiles, type Reopenable } from './open-files.ts'

const closed: string[] = []

const fileNamed = (name: string): Reopenable & { idle: boolean } => ({
  idle: true,
  closeDescriptor: () => void closed.push(name),
  listed: false,
  older: undefined,
  newer: undefined,
})

function given(max: number, names: string) {
  closed.length = 0
  const files = Object.fromEntries(Array.from(names, name => [name, fileNamed(name)]))
  const open = new OpenFiles(max)
  const file = (name: string) => files[name] as Reopenable & { idle: boolean }
  const touch = (order: string) => {
    for (const name of order) open.touch(file(name))
  }
  return { open, file, touch }
}

test('beyond the bound the file used longest ago is closed', () => {
  const { touch } = given(3, 'abcde')
  touch('abcabdae')
  deepStrictEqual(closed, ['c', 'b'])
})

test('a file in use is not closed, and closed when it is idle again', () => {
  const { touch, file, open } = given(2, 'abcd')
  file('a').idle = false
  file('b').idle = false
  touch('abc')
  deepStrictEqual(closed, ['c'])
  file('a').idle = true
  touch('d')
  deepStrictEqual(closed, ['c', 'a'])
  strictEqual(open.closeOne(), true)
  strictEqual(open.closeOne(), false)
  deepStrictEqual(closed, ['c', 'a', 'd'])
})

test('a forgotten file is not closed, wherever it stood', () => {
  for (const forgotten of 'abc') {
    const { touch, file, open } = given(3, 'abcd')
    touch('abc')
    open.forget(file(forgotten))
    open.forget(file(forgotten))
    touch('d')
    deepStrictEqual(closed, [])
    while (open.closeOne());
    deepStrictEqual(closed, [...'abcd'.replace(forgotten, '')])
  }
})
