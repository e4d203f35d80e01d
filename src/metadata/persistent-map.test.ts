/** Tests of the map that the metadata image keeps topics in. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { PersistentMap } from './persistent-map.ts'

const change = fc.tuple(fc.constantFrom(...'abcdefghijklmnop'), fc.option(fc.integer()))

test('a persistent map behaves as a Map, and edits never change the map they started from', () => {
  fc.assert(
    fc.property(fc.array(fc.array(change, { maxLength: 8 }), { maxLength: 8 }), rounds => {
      let map = PersistentMap.empty<string, number>()
      const model = new Map<string, number>()
      for (const round of rounds) {
        const before = [...map]
        const editor = map.edit()
        for (const [key, value] of round) {
          if (value === null) editor.delete(key)
          else editor.set(key, value)
          if (value === null) model.delete(key)
          else model.set(key, value)
          assert.equal(editor.get(key), model.get(key))
        }
        const next = editor.finish()
        assert.deepEqual([...map], before)
        map = next
        assert.equal(map.size, model.size)
        assert.deepEqual([...map].sort(), [...model].sort())
        assert.deepEqual([...map.keys()].sort(), [...model.keys()].sort())
      }
    }),
  )
})

test('an edit that changes nothing gives the same map', () => {
  const map = PersistentMap.empty<string, number>()
  assert.equal(map.edit().finish(), map)
})
