/**
 * Memory that threads share, as long as what is used of it. JavaScriptCore counts the whole length of a
 * shared buffer, touched or not, as heap of every thread that has it, and lets so much more garbage
 * gather there.
 */

/** Grown by so many bytes at least: a page or more of the kernel's. */
const piece = 2 ** 16

/** @param mostBytes how far it may grow: until then that costs address space alone */
export const growingMemory = (mostBytes: number): SharedArrayBuffer =>
  new SharedArrayBuffer(0, { maxByteLength: Math.ceil(mostBytes / piece) * piece })

/**
 * Makes memory reach so far; what is new is zero. Views without a length of their own see it at once, in
 * every thread.
 *
 * @throws RangeError where it may not grow so far
 */
export function growTo(memory: SharedArrayBuffer, bytes: number): void {
  const wanted = Math.ceil(bytes / piece) * piece
  while (memory.byteLength < wanted) {
    try {
      memory.grow(wanted)
    } catch (error) {
      // Another thread has grown it further meanwhile, or it may not grow so far.
      if (memory.byteLength < wanted) throw error
    }
  }
}
