/**
 * A split-block Bloom filter (Putze, Sanders and Singler, "Cache-, Hash- and Space-Efficient Bloom
 * Filters", 2007, in the form that Parquet specifies): a key sets one bit in each of the eight words
 * of one block, so that a question costs one cache line. At sixteen bits a key about one key in a
 * thousand that was never added is taken for one that was.
 */

/** Blocks of a chunk's filter, and words of a block. */
export const blocksPerChunk = 64
const wordsPerBlock = 8
export const wordsPerChunk = blocksPerChunk * wordsPerBlock

const salts = [
  0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31,
] as const

/** Where a key's block begins, in a filter over 2^bits chunks: the hash's first bits choose both. */
function placeOf(high: number, bits: number): number {
  const chunk = bits === 0 ? 0 : high >>> (32 - bits)
  const block = (high << bits) >>> 26
  return (chunk * blocksPerChunk + block) * wordsPerBlock
}

export function addToFilter(filter: Uint32Array, bits: number, high: number, low: number): void {
  const at = placeOf(high, bits)
  for (let i = 0; i < wordsPerBlock; i++) {
    filter[at + i]! |= 1 << (Math.imul(low, salts[i]!) >>> 27)
  }
}

export function mayHave(filter: Uint32Array, bits: number, high: number, low: number): boolean {
  const at = placeOf(high, bits)
  for (let i = 0; i < wordsPerBlock; i++) {
    if ((filter[at + i]! & (1 << (Math.imul(low, salts[i]!) >>> 27))) === 0) return false
  }
  return true
}
