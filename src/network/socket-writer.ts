/** Writes a list of chunks to a socket in one go and waits until the kernel has them; both ends of a connection use it. */
import type { Socket } from 'node:net'

/**
 * One writev for all chunks: nothing is concatenated. Resolves when the last byte was handed to the kernel or when
 * the socket is closed (its 'close' event tells that); never rejects.
 */
export function writeChunks(socket: Socket, chunks: readonly Buffer[]): Promise<void> {
  return new Promise(resolve => {
    socket.cork()
    const last = chunks.length - 1
    // Node calls the callbacks of a destroyed socket too, with an error.
    for (let i = 0; i < last; i++) socket.write(chunks[i] ?? EMPTY)
    socket.write(chunks[last] ?? EMPTY, () => resolve())
    socket.uncork()
  })
}

const EMPTY = Buffer.alloc(0)
