/** Figures and moments as people read them. */
import { equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { byteText, counted, durationText, numberText, rateText, shortNumber } from './figures.ts'
import { utcTime } from './times.ts'

test('numbers have groups, and a dash where they are not known', () => {
  equal(numberText(1_234_567), '1,234,567')
  equal(numberText(0), '0')
  equal(numberText(null), '–')
  equal(counted(1, 'mirror'), '1 mirror')
  equal(counted(2000, 'mirror'), '2,000 mirrors')
})

test('large numbers are short in charts', () => {
  equal(shortNumber(999), '999')
  equal(shortNumber(12_400), '12.4k')
  equal(shortNumber(3_100_000), '3.1M')
})

test('bytes and rates go in steps of 1024', () => {
  equal(byteText(999), '999 B')
  equal(byteText(1536), '1.5 KB')
  equal(byteText(200 * 1024 * 1024), '200 MB')
  equal(rateText(null), '–')
  equal(rateText(2048), '2 KB/s')
})

test('lengths of time are told in the largest unit that says enough', () => {
  equal(durationText(12), '12 ms')
  equal(durationText(4200), '4.2 s')
  equal(durationText(180_000), '3 min')
  equal(durationText(5 * 3_600_000), '5 h')
  equal(durationText(72 * 3_600_000), '3 d')
  equal(durationText(null), '–')
})

test('a moment in UTC says so', () => match(utcTime(0), /^1970-01-01 00:00:00\.000 UTC$/))
