/** Numbers as the demo prints them. */
import { deepStrictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { countText, durationText, megabytesText, secondsText } from './figures-text.ts'

test('counts, megabytes, seconds and durations are short and exact', () => {
  deepStrictEqual([null, 0, 999, 1234567].map(countText), ['-', '0', '999', '1,234,567'])
  deepStrictEqual([null, 0, 420_000, 3_460_000, 123_400_000].map(megabytesText), ['-', '0.00', '0.42', '3.5', '123'])
  deepStrictEqual([0, 1234, 61_000].map(secondsText), ['0.0', '1.2', '61.0'])
  deepStrictEqual([0, 7_900, 754_000, 3_723_000].map(durationText), ['0:00', '0:07', '12:34', '1:02:03'])
})
