/** APIs by key and the versions of their headers. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { allApis, apiOf } from './api-registry.ts'

test('an API is found by its key, and removed or unknown ones are not there', () => {
  strictEqual(apiOf(1)?.name, 'Fetch')
  deepStrictEqual(
    [4, 5, 6, 7, -1, 9999].map(key => apiOf(key)),
    [undefined, undefined, undefined, undefined, undefined, undefined],
  )
})

test('request and response of an API have the same key and versions', () => {
  for (const { key, request, response } of allApis) {
    deepStrictEqual([request.apiKey, response.apiKey, response.versions], [key, key, request.versions])
  }
})

test('header versions follow flexible versions, except that ApiVersions answers with header 0', () => {
  deepStrictEqual([apiOf(1)?.requestHeaderVersion(11), apiOf(1)?.requestHeaderVersion(12)], [1, 2])
  deepStrictEqual([apiOf(1)?.responseHeaderVersion(11), apiOf(1)?.responseHeaderVersion(12)], [0, 1])
  deepStrictEqual([apiOf(18)?.requestHeaderVersion(3), apiOf(18)?.responseHeaderVersion(4)], [2, 0])
})
