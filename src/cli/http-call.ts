/** One HTTP request of the command line, with the certificates of the endpoint; called by the REST client. */
import type { IncomingMessage } from 'node:http'

/** Trust and identity of https, as PEM. */
export interface Certificates {
  /** Trusted in place of the usual authorities. */
  readonly ca: string | undefined
  readonly cert: string | undefined
  readonly key: string | undefined
}

export interface HttpCall {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  readonly certificates: Certificates
  /** Ends the request, and the reading of its answer. */
  readonly signal: AbortSignal
}

/** Resolves to the answer, whose body is still to be read. Rejects with the system's or OpenSSL's error when nobody answers. */
export async function httpCall(url: URL, call: HttpCall): Promise<IncomingMessage> {
  const { method, body, signal, certificates } = call
  const { ca, cert, key } = certificates
  const tls = { ...(ca ? { ca } : {}), ...(cert ? { cert } : {}), ...(key ? { key } : {}) }
  const headers = body === undefined ? call.headers : { ...call.headers, 'content-length': Buffer.byteLength(body) }
  const options = { method, headers, agent: false, signal } as const
  // Loaded when needed: TLS alone costs a start as much as all of the command line.
  const { request: ask } = url.protocol === 'https:' ? await import('node:https') : await import('node:http')
  return new Promise((resolve, reject) => {
    const request = ask(url, { ...options, ...tls })
    request.on('error', reject)
    request.on('response', resolve)
    request.end(body)
  })
}

/** The whole body of an answer. */
export async function bodyText(answer: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of answer) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}
