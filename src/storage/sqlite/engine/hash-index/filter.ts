/**
 * A split-block Bloom filter (Putze, Sanders and Singler, "Cache-, Hash- and Space-Efficient Bloom
 * Filters", 2007, in the form that Parquet specifies): a key sets one bit in each of the eight words of one
 * block, so that a lookup costs one cache line. At twenty-four bits per key, about one in ten thousand keys
 * that were never added is taken for one that was.
 */

/** Blocks per chunk's filter, and words per block. */
const blocksPerChunk = 96
const wordsPerBlock = 8
export const wordsPerChunk = blocksPerChunk * wordsPerBlock

/** Where a key's block begins, in a filter over 2^bits chunks: the hash's first bits choose both. */
function placeOf(high: number, bits: number): number {
  const chunk = bits === 0 ? 0 : high >>> (32 - bits)
  const block = (((high << bits) >>> 16) * blocksPerChunk) >>> 16
  return (chunk * blocksPerChunk + block) * wordsPerBlock
}

export function addToFilter(filter: Uint32Array, bits: number, high: number, low: number): void {
  const at = placeOf(high, bits)
  filter[at]! |= 1 << (Math.imul(low, 0x47b6137b) >>> 27)
  filter[at + 1]! |= 1 << (Math.imul(low, 0x44974d91) >>> 27)
  filter[at + 2]! |= 1 << (Math.imul(low, 0x8824ad5b) >>> 27)
  filter[at + 3]! |= 1 << (Math.imul(low, 0xa2b7289d) >>> 27)
  filter[at + 4]! |= 1 << (Math.imul(low, 0x705495c7) >>> 27)
  filter[at + 5]! |= 1 << (Math.imul(low, 0x2df1424b) >>> 27)
  filter[at + 6]! |= 1 << (Math.imul(low, 0x9efc4947) >>> 27)
  filter[at + 7]! |= 1 << (Math.imul(low, 0x5c6bfb31) >>> 27)
}

/** Written out word by word, as above: a loop over the salts takes three times as long. */
export function mayHave(filter: Uint32Array, bits: number, high: number, low: number): boolean {
  const at = placeOf(high, bits)
  return (
    ((filter[at]! >>> (Math.imul(low, 0x47b6137b) >>> 27)) &
      (filter[at + 1]! >>> (Math.imul(low, 0x44974d91) >>> 27)) &
      1) !==
      0 &&
    ((filter[at + 2]! >>> (Math.imul(low, 0x8824ad5b) >>> 27)) &
      (filter[at + 3]! >>> (Math.imul(low, 0xa2b7289d) >>> 27)) &
      (filter[at + 4]! >>> (Math.imul(low, 0x705495c7) >>> 27)) &
      (filter[at + 5]! >>> (Math.imul(low, 0x2df1424b) >>> 27)) &
      (filter[at + 6]! >>> (Math.imul(low, 0x9efc4947) >>> 27)) &
      (filter[at + 7]! >>> (Math.imul(low, 0x5c6bfb31) >>> 27)) &
      1) !==
      0
  )
}
