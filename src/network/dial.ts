/** Opens a TCP connection to the first address of a host that answers; BrokerConnection calls it. */
import { lookup } from 'node:dns/promises'
import { connect, isIP, type Socket } from 'node:net'
import { type Clock, sleep } from '../core/clock.ts'
import { messageOf } from '../core/errors.ts'
import { ConnectionError } from './connection-error.ts'
import { type ClientTls, connectTls, describeTlsError } from './tls/client-tls.ts'

/** All addresses of a host name, best first; rejects or answers none when it does not resolve. */
export type DnsLookup = (host: string) => Promise<readonly string[]>

const systemLookup: DnsLookup = async host => (await lookup(host, { all: true })).map(entry => entry.address)

export interface DialOptions {
  readonly host: string
  readonly port: number
  /** For name resolution, TLS and all addresses together; each address gets an equal share of what is left. */
  readonly connectTimeoutMs: number
  readonly signal?: AbortSignal | undefined
  readonly clock: Clock
  readonly dnsLookup?: DnsLookup | undefined
  readonly tls?: ClientTls | undefined
  /** Receives what is read. The buffer is reused: copy before returning, unless it is the one given by `readInto`. Must not throw. */
  readonly onBytes: (bytes: Buffer) => void
  /** Asked before every read where to put what comes next; undefined = a buffer of the connection's. */
  readonly readInto?: () => Buffer | undefined
}

/** One buffer per connection for what has no place of its own: no allocation per read. */
const READ_BUFFER_BYTES = 64 * 1024

/** Rejects with ConnectionError (dns, tcp, tls, timeout) or the signal's reason. */
export async function dial(options: DialOptions): Promise<Socket> {
  const { clock, host, port } = options
  const deadlineMs = clock.monotonicMs() + options.connectTimeoutMs
  const addresses = await resolveHost(options)
  const failures: ConnectionError[] = []
  for (const [index, address] of addresses.entries()) {
    const shareMs = (deadlineMs - clock.monotonicMs()) / (addresses.length - index)
    try {
      return await dialAddress(options, address, Math.max(0, shareMs))
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error
      failures.push(error)
    }
  }
  // Refused by one address and silent at another: silence says less.
  const kinds = failures.map(failure => failure.kind)
  const kind = kinds.includes('tls') ? 'tls' : kinds.every(found => found === 'timeout') ? 'timeout' : 'tcp'
  const reasons = failures.map(failure => failure.message).join('; ')
  throw new ConnectionError(kind, `cannot connect to ${host}:${port}: ${reasons}`, { cause: failures[0] })
}

async function resolveHost(options: DialOptions): Promise<readonly string[]> {
  const { host } = options
  if (isIP(host) !== 0) return [host]
  const found = (options.dnsLookup ?? systemLookup)(host).then(
    addresses => (addresses.length > 0 ? addresses : new ConnectionError('dns', `${host} has no address`)),
    error => new ConnectionError('dns', `cannot resolve ${host}: ${messageOf(error)}`, { cause: error }),
  )
  const answer = await inTime(found, options, options.connectTimeoutMs)
  if (answer === undefined)
    throw new ConnectionError('timeout', `resolving ${host} took longer than ${options.connectTimeoutMs} ms`)
  if (answer instanceof ConnectionError) throw answer
  return answer
}

async function dialAddress(options: DialOptions, address: string, timeoutMs: number): Promise<Socket> {
  const own = Buffer.allocUnsafeSlow(READ_BUFFER_BYTES)
  const onread = {
    buffer: () => options.readInto?.() ?? own,
    callback: (bytesRead: number, buffer: Uint8Array) => {
      options.onBytes(Buffer.from(buffer.buffer, buffer.byteOffset, bytesRead))
      return true
    },
  }
  const { host, port, tls } = options
  const socket = tls
    ? connectTls(tls, { host, address, port, onread })
    : connect({ host: address, port, onread, noDelay: true, keepAlive: true })
  let reached = false
  const outcome = new Promise<Socket | ConnectionError>(resolve => {
    socket.once('connect', () => {
      reached = true
      if (!tls) resolve(socket)
    })
    socket.once('secureConnect', () => resolve(socket))
    socket.once('error', error =>
      resolve(
        reached
          ? new ConnectionError('tls', `${address}: ${describeTlsError(error)}`, { cause: error })
          : new ConnectionError('tcp', describe(error, address), { cause: error }),
      ),
    )
  })
  try {
    const answer = await inTime(outcome, options, timeoutMs)
    if (answer === undefined)
      throw new ConnectionError('timeout', `${address} did not answer in ${Math.round(timeoutMs)} ms`)
    if (answer instanceof ConnectionError) throw answer
    return answer
  } catch (error) {
    socket.destroy()
    throw error
  }
}

/** The promise's value, or undefined after `timeoutMs`; rejects with the signal's reason. The promise never rejects. */
async function inTime<T>(promise: Promise<T>, options: DialOptions, timeoutMs: number): Promise<T | undefined> {
  options.signal?.throwIfAborted()
  const settled = new AbortController()
  const stop = options.signal ? AbortSignal.any([settled.signal, options.signal]) : settled.signal
  try {
    const answer = await Promise.race([promise, sleep(options.clock, timeoutMs, stop).then(() => undefined)])
    options.signal?.throwIfAborted()
    return answer
  } finally {
    settled.abort()
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'network unreachable',
  ECONNRESET: 'connection reset',
}

function describe(error: Error & { code?: string }, address: string): string {
  return `${address}: ${REASONS[error.code ?? ''] ?? error.message}`
}
