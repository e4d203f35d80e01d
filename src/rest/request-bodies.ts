/** What comes in: bodies that are JSON or refused, messages that name what is wrong, and requests that are none. The server sets it up. */
import type { Socket } from 'node:net'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { restError } from './errors.ts'

/** JSON is the only media type; a body of no bytes is no body, whatever its media type. */
export function readBodies(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') return done(null, undefined)
    try {
      JSON.parse(body)
    } catch (error) {
      return done(
        restError('BODY_INVALID', { problem: `the body is not JSON: ${(error as Error).message}` }),
        undefined,
      )
    }
    // Parsed again by the one that refuses names which would change prototypes.
    return parse(request, body, done)
  })
  app.setSchemaErrorFormatter(([first], place) => {
    if (!first) return new Error(`${place} is invalid`)
    const where = `${place}${first.instancePath}`
    const { additionalProperty, allowedValues } = first.params as {
      additionalProperty?: string
      allowedValues?: unknown[]
    }
    if (additionalProperty !== undefined)
      return new Error(`${where} must NOT have additional properties: "${additionalProperty}" is not known`)
    return new Error(`${where} ${first.message ?? 'is invalid'}${allowedValues ? `: ${allowedValues.join(', ')}` : ''}`)
  })
}

const errorText = (code: number, message: string): string => JSON.stringify({ error_code: code, message })

/** Bytes that are no HTTP, headers without an end, requests that take too long: answered as everything else is, and closed. */
export function refuseMalformed(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  const [status, text] =
    error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
      ? [408, 'Request Timeout']
      : error.code === 'HPE_HEADER_OVERFLOW'
        ? [431, 'Request Header Fields Too Large']
        : [400, 'Bad Request']
  const body = errorText(status, status === 408 ? 'the request did not come in whole in time' : text)
  if (socket.writable)
    socket.write(
      `HTTP/1.1 ${status} ${text}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    )
  socket.destroy(error)
}

/** Paths that cannot be decoded. */
export function refuseUnroutable(error: FastifyError, _request: FastifyRequest, reply: FastifyReply): void {
  const status = error.statusCode ?? 400
  reply.code(status).type('application/json; charset=utf-8').serializer(String).send(errorText(status, error.message))
}
