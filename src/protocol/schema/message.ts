/** message(): a table becomes an object that encodes and decodes; api() pairs request and response. Called by generated files. */
import { DecodeError, EncodeError } from './codec-errors.ts'
import { compileReader } from './compile-reader.ts'
import { compileWriter } from './compile-writer.ts'
import type { Fields, InputOf, ValueOf } from './field.ts'
import { Reader } from './reader.ts'
import { parseVersions, type VersionRange } from './version-range.ts'
import { Writer } from './writer.ts'

/** From this size on encodeChunks() passes bytes on by reference: below it an own chunk costs more than the copy. */
const SPLICE_BYTES_MIN = 4096

/** A message as data. */
export interface MessageTable<F extends Fields> {
  readonly name: string
  /** API key, metadata record type or coordinator record type; −1 (the default) where there is none. */
  readonly apiKey?: number
  /** Valid versions: `4-18`. */
  readonly versions: string
  /** First version with compact lengths and tagged fields; omitted = none. */
  readonly flexibleFrom?: number
  /** true = brokers do not offer the last version unless told to. */
  readonly latestVersionUnstable?: true
  readonly fields: F
}

/** A message of Kafka's protocol in all its versions. `T` is the decoded value, `I` what encoding takes. */
export interface Message<T, I> {
  readonly name: string
  readonly apiKey: number
  readonly versions: VersionRange
  /** First flexible version; Infinity if there is none. */
  readonly flexibleFrom: number
  readonly latestVersionUnstable: boolean
  readonly fields: Fields
  /** One buffer. Throws EncodeError. */
  encode(value: I, version: number): Buffer
  /** Like encode, but bytes and records from 4 KiB on are passed on by reference: they must not change until sent. */
  encodeChunks(value: I, version: number): Buffer[]
  /** The whole buffer must be the message; bytes and records are views of it. Throws DecodeError. */
  decode(buffer: Buffer, version: number): T
  /** Appends to a writer. Throws EncodeError. */
  write(writer: Writer, value: I, version: number): void
  /** Reads from the reader's position on and leaves it behind the message. Throws DecodeError. */
  read(reader: Reader, version: number): T
}

/** The decoded value of a message. */
export type Infer<M> = M extends Message<infer T, infer _I> ? T : never
/** What encoding a message takes. */
export type Input<M> = M extends Message<infer _T, infer I> ? I : never

type WriteFunction = (writer: Writer, value: unknown) => void
type ReadFunction = (reader: Reader) => unknown

class CompiledMessage implements Message<unknown, unknown> {
  readonly name: string
  readonly apiKey: number
  readonly versions: VersionRange
  readonly flexibleFrom: number
  readonly latestVersionUnstable: boolean
  readonly fields: Fields
  readonly #writers: (WriteFunction | undefined)[] = []
  readonly #readers: (ReadFunction | undefined)[] = []

  constructor(table: MessageTable<Fields>) {
    this.name = table.name
    this.apiKey = table.apiKey ?? -1
    this.versions = parseVersions(table.versions)
    this.flexibleFrom = table.flexibleFrom ?? Number.POSITIVE_INFINITY
    this.latestVersionUnstable = table.latestVersionUnstable ?? false
    this.fields = table.fields
  }

  encode(value: unknown, version: number): Buffer {
    const writer = new Writer()
    this.write(writer, value, version)
    return writer.toBuffer()
  }

  encodeChunks(value: unknown, version: number): Buffer[] {
    const writer = new Writer(SPLICE_BYTES_MIN)
    this.write(writer, value, version)
    return writer.toChunks()
  }

  decode(buffer: Buffer, version: number): unknown {
    const reader = new Reader(buffer)
    const value = this.read(reader, version)
    reader.expectEnd()
    return value
  }

  write(writer: Writer, value: unknown, version: number): void {
    const write = this.#writers[version] ?? this.#compileWriter(version)
    write(writer, value)
  }

  read(reader: Reader, version: number): unknown {
    const read = this.#readers[version] ?? this.#compileReader(version)
    return read(reader)
  }

  #compileWriter(version: number): WriteFunction {
    if (!this.#hasVersion(version)) throw new EncodeError('unsupported-version', this.#versionText(version))
    const write = compileWriter(this.#shape(version))
    this.#writers[version] = write
    return write
  }

  #compileReader(version: number): ReadFunction {
    if (!this.#hasVersion(version)) throw new DecodeError('unsupported-version', 0, this.#versionText(version))
    const read = compileReader(this.#shape(version))
    this.#readers[version] = read
    return read
  }

  #shape(version: number) {
    return { name: this.name, fields: this.fields, version, flexible: version >= this.flexibleFrom }
  }

  #hasVersion(version: number): boolean {
    return Number.isInteger(version) && version >= this.versions.min && version <= this.versions.max
  }

  #versionText(version: number): string {
    return `${this.name} has versions ${this.versions.min} to ${this.versions.max}, not ${version}`
  }
}

/** Makes the message of a table; encoders and decoders are compiled on first use of a version. */
export function message<const F extends Fields>(table: MessageTable<F>): Message<ValueOf<F>, InputOf<F>> {
  return new CompiledMessage(table) as unknown as Message<ValueOf<F>, InputOf<F>>
}

/** Request and response of one API with the versions of the headers in front of them. */
export interface Api<Q, QI, R, RI> {
  readonly key: number
  /** Kafka's name of the API: `Fetch`. */
  readonly name: string
  readonly request: Message<Q, QI>
  readonly response: Message<R, RI>
  /** Version of the RequestHeader in front of a request of this version. */
  requestHeaderVersion(version: number): number
  /** Version of the ResponseHeader in front of a response of this version. */
  responseHeaderVersion(version: number): number
}

/** Pairs request and response. `plainResponseHeader`: the response header never becomes flexible (ApiVersions, KIP-511). */
export function api<Q, QI, R, RI>(
  request: Message<Q, QI>,
  response: Message<R, RI>,
  options: { readonly plainResponseHeader?: boolean } = {},
): Api<Q, QI, R, RI> {
  return {
    key: request.apiKey,
    name: request.name.replace(/Request$/, ''),
    request,
    response,
    requestHeaderVersion: version => (version >= request.flexibleFrom ? 2 : 1),
    responseHeaderVersion: version =>
      version >= response.flexibleFrom && options.plainResponseHeader !== true ? 1 : 0,
  }
}
