/** Requests of clients in envelopes: what is in them, and what comes back. */
import { deepStrictEqual, rejects, strictEqual, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../../protocol/errors.ts'
import { EnvelopeRequest, EnvelopeResponse } from '../../protocol/messages/58-envelope.ts'
import { RequestHeader } from '../../protocol/messages/header.ts'
import { clientAddressBytes } from './client-address.ts'
import { questionsOf, startQuorum } from './fakes/observe-quorum.ts'
import { forwardRequest } from './request-forwarding.ts'

const request = {
  apiKey: 19,
  apiVersion: 7,
  correlationId: 77,
  clientId: 'app',
  body: Buffer.from('body'),
  principal: { type: 'User', name: 'alice' },
  remoteAddress: '::ffff:10.0.0.9',
}

test('an envelope carries the request as it is, who sent it and from where', async t => {
  const quorum = await startQuorum(t, { serves: new Map([[58, 0]]) })
  const seen: EnvelopeRequest[] = []
  quorum.commands.set(58, ({ body, apiVersion }) => {
    seen.push(EnvelopeRequest.decode(body, apiVersion))
    // Correlation id, no tagged fields, the inner body.
    const responseData = Buffer.concat([Buffer.from([0, 0, 0, 77, 0]), Buffer.from('answer')])
    return EnvelopeResponse.encode({ responseData, errorCode: 0 }, apiVersion)
  })
  strictEqual((await forwardRequest(questionsOf(t, quorum), request)).toString(), 'answer')
  const [envelope] = seen
  const header = RequestHeader.encode(
    { requestApiKey: 19, requestApiVersion: 7, correlationId: 77, clientId: 'app' },
    2,
  )
  deepStrictEqual(envelope?.requestData, Buffer.concat([header, request.body]))
  strictEqual(envelope?.requestPrincipal?.toString('hex'), '0000055573657206616c6963650000')
  deepStrictEqual(envelope?.clientHostAddress, Buffer.from([10, 0, 0, 9]))
})

test('a controller that will not hear us is told by its error', async t => {
  const quorum = await startQuorum(t, { serves: new Map([[58, 0]]) })
  quorum.commands.set(58, ({ apiVersion }) =>
    EnvelopeResponse.encode({ errorCode: ErrorCode.CLUSTER_AUTHORIZATION_FAILED }, apiVersion),
  )
  await rejects(
    forwardRequest(questionsOf(t, quorum), request),
    /refuses CreateTopics in an Envelope with CLUSTER_AUTH/,
  )
})

test('addresses are 4 or 16 bytes', () => {
  strictEqual(clientAddressBytes('127.0.0.1').toString('hex'), '7f000001')
  strictEqual(clientAddressBytes('::1').toString('hex'), `${'0'.repeat(31)}1`)
  strictEqual(clientAddressBytes('fe80::1:2%eth0').toString('hex'), 'fe800000000000000000000000010002')
  strictEqual(clientAddressBytes('2001:db8:1:2:3:4:5:6').toString('hex'), '20010db8000100020003000400050006')
  throws(() => clientAddressBytes('somewhere'), RangeError)
})
