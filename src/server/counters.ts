/**
 * Counters of one thread, in memory that the main thread reads. Each thread alone writes its own,
 * so counting is a plain addition (an atomic one would be five times as dear, and 32 bits wrap
 * within hours where microseconds are summed); doubles are whole up to 2^53. A thread that is
 * started again goes on with the counters of the one before it.
 */
export function counterMemory(words: number): SharedArrayBuffer {
  return new SharedArrayBuffer(words * Float64Array.BYTES_PER_ELEMENT)
}

/** What all threads have counted together. */
export function summed(memories: readonly SharedArrayBuffer[], words: number): Float64Array {
  const sums = new Float64Array(words)
  for (const memory of memories) {
    const counters = new Float64Array(memory)
    for (let i = 0; i < words; i++) (sums[i] as number) += counters[i] as number
  }
  return sums
}
