/**
 * Memory that threads share, only as long as the part that is used. JavaScriptCore counts the whole length of
 * a shared buffer, touched or not, as heap of every thread that has it, and lets that much more garbage
 * gather there.
 */

/** The least number of bytes to grow by: a page or more of the kernel's. */
const piece = 2 ** 16

/** @param mostBytes how far it may grow; until then, that costs only address space */
export const growingMemory = (mostBytes: number): SharedArrayBuffer =>
  new SharedArrayBuffer(0, { maxByteLength: Math.ceil(mostBytes / piece) * piece })

/**
 * Makes memory at least so many bytes long; new bytes are zero. Views without a length of their own see them
 * at once, in every thread.
 *
 * @throws RangeError if it may not grow that far
 */
export function growTo(memory: SharedArrayBuffer, bytes: number): void {
  const wanted = Math.ceil(bytes / piece) * piece
  while (memory.byteLength < wanted) {
    try {
      memory.grow(wanted)
    } catch (error) {
      // Another thread has grown it further meanwhile, or it may not grow that far.
      if (memory.byteLength < wanted) throw error
    }
  }
}
