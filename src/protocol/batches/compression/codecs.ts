/** The four codecs of record batches, with a bound on what they may produce. Called by the builder and the record decoder. */
import { constants, gunzipSync, gzipSync, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { BatchError } from '../batch-error.ts'
import type { Compression } from '../batch-header.ts'
import { compressLz4, decompressLz4 } from './lz4-frame.ts'
import { compressXerial, decompressSnappy } from './xerial-snappy.ts'

interface Codec {
  /** `level`: as in Kafka's topic configs; undefined = the library's own. */
  compress(bytes: Buffer, level?: number): Buffer
  /** Throws BatchError 'too-large' or 'decompression-failed'. */
  decompress(bytes: Buffer, bytesMax: number): Buffer
}

const codecs: Record<Exclude<Compression, 'none'>, Codec> = {
  gzip: {
    compress: (bytes, level) => gzipSync(bytes, level === undefined ? {} : { level }),
    decompress: (bytes, bytesMax) => bounded('gzip', () => gunzipSync(bytes, { maxOutputLength: bytesMax })),
  },
  snappy: { compress: compressXerial, decompress: decompressSnappy },
  lz4: { compress: compressLz4, decompress: decompressLz4 },
  zstd: {
    compress: (bytes, level) =>
      zstdCompressSync(bytes, level === undefined ? {} : { params: { [constants.ZSTD_c_compressionLevel]: level } }),
    decompress: (bytes, bytesMax) => bounded('zstd', () => zstdDecompressSync(bytes, { maxOutputLength: bytesMax })),
  },
}

/** Compresses the record section of a batch in the form that Kafka's Java reader accepts. gzip (-1 = its default) and zstd have levels. */
export const compress = (compression: Exclude<Compression, 'none'>, bytes: Buffer, level?: number): Buffer =>
  codecs[compression].compress(bytes, level)

/** Decompresses a record section to at most `bytesMax` bytes. Throws BatchError 'too-large' or 'decompression-failed'. */
export const decompress = (compression: Exclude<Compression, 'none'>, bytes: Buffer, bytesMax: number): Buffer =>
  codecs[compression].decompress(bytes, bytesMax)

function bounded(name: string, run: () => Buffer): Buffer {
  try {
    return run()
  } catch (error) {
    if (error instanceof RangeError) throw new BatchError('too-large', `${name}: the output passes the bound`, error)
    throw new BatchError('decompression-failed', `${name}: the compressed bytes are corrupt or cut off`, error)
  }
}
