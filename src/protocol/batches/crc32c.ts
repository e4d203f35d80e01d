/** CRC-32C (Castagnoli), the checksum of record batches; the only place that knows which library computes it. */
import { crc32c as nativeCrc32c } from '@node-rs/crc32'

/** CRC-32C of the bytes as an unsigned 32-bit number. `previous` continues a checksum over bytes that came before. */
export const crc32c = (bytes: Uint8Array, previous?: number): number => nativeCrc32c(bytes, previous)
