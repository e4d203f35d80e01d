/** The bytes that a fetch slot asks for. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FetchWindow } from './fetch-window.ts'

const KIB = 1024
const MIB = KIB * KIB

test('the window starts small, grows while answers are full and never beyond its bound', () => {
  const window = new FetchWindow(10 * KIB * KIB + 1)
  const asked: number[] = []
  for (let i = 0; i < 5; i++) {
    asked.push(window.bytes / KIB)
    window.record(window.bytes)
  }
  assert.deepEqual(asked, [256, 1024, 4096, 10240 + 1 / KIB, 10240 + 1 / KIB])
  assert.equal(window.atTail, false)
})

test('it shrinks step by step to its least size while answers are small, in whole bytes', () => {
  const window = new FetchWindow(1024 * KIB + 1)
  window.record(window.bytes)
  window.record(0)
  assert.equal(window.bytes, 512 * KIB)
  assert.equal(window.atTail, true)
  for (let i = 0; i < 3; i++) window.record(10)
  assert.equal(window.bytes, 256 * KIB)
})

test('a bound below the usual least size is the size', () => {
  const window = new FetchWindow(1000)
  assert.equal(window.bytes, 1000)
  window.record(0)
  assert.equal(window.bytes, 1000)
})

test('many partitions share an answer, few get as much as they may', () => {
  const window = new FetchWindow(10 * MIB)
  for (let answer = 0; answer < 4; answer++) window.record(window.bytes)
  assert.equal(window.bytes, 10 * MIB)
  assert.equal(window.shareBytes(1, 5 * MIB), 5 * MIB)
  assert.equal(window.shareBytes(4, 5 * MIB), 2.5 * MIB)
  assert.equal(window.shareBytes(100, 5 * MIB), MIB)
  assert.equal(window.shareBytes(100, MIB / 2), MIB / 2)
})
