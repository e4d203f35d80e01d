/** One HTTP request of the command line, with the certificates of the endpoint; called by the REST client. */
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'

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
  readonly timeoutMs: number
  readonly certificates: Certificates
}

export interface HttpAnswer {
  readonly status: number
  readonly text: string
}

/** Rejects with the system's or OpenSSL's error when nobody answers, and when the answer does not come in time. */
export function httpCall(url: URL, call: HttpCall): Promise<HttpAnswer> {
  const { method, body, timeoutMs, certificates } = call
  const { ca, cert, key } = certificates
  const tls = { ...(ca ? { ca } : {}), ...(cert ? { cert } : {}), ...(key ? { key } : {}) }
  const headers = body === undefined ? call.headers : { ...call.headers, 'content-length': Buffer.byteLength(body) }
  const options = { method, headers, agent: false, signal: AbortSignal.timeout(timeoutMs) } as const
  return new Promise((resolve, reject) => {
    const request = url.protocol === 'https:' ? httpsRequest(url, { ...options, ...tls }) : httpRequest(url, options)
    request.on('error', reject)
    request.on('response', response => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }))
    })
    request.end(body)
  })
}
