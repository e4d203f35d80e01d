/** What is remembered, and what is forgotten. */
import { ok, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { RecentEntries } from './recent-entries.ts'

test('an entry is the same until it was not asked for a while, or until too many others were', () => {
  const entries = new RecentEntries<{ name?: string }>({ max: 2, forgetMs: 100, create: () => ({}) })
  const first = entries.get('a', 0)
  strictEqual(entries.get('a', 90), first)
  entries.get('b', 100)
  strictEqual(entries.get('a', 110), first)
  entries.get('c', 120)
  strictEqual(entries.size, 2)
  strictEqual(entries.get('a', 130), first)
  entries.get('c', 235)
  strictEqual(entries.size, 1)
  ok(entries.get('a', 240) !== first)
})
