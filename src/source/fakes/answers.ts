/** Answers of a source that is under test: waited for while the clock runs, and refused in the way that is expected. */
import assert from 'node:assert/strict'
import { SourceError, type SourceFailure } from '../../link/ports.ts'

/** For `rejects`: a SourceError of this kind. */
export const failure = (expected: SourceFailure, message: RegExp) => (error: unknown) => {
  assert.ok(error instanceof SourceError, `${error}`)
  assert.equal(error.failure, expected)
  assert.match(error.message, message)
  return true
}

/** Runs the clock while the answer is on its way. */
export async function during<T>(until: (condition: () => boolean) => Promise<void>, answer: Promise<T>): Promise<T> {
  let settled = false
  const done = () => {
    settled = true
  }
  answer.then(done, done)
  await until(() => settled)
  return await answer
}
