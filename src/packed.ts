/**
 * What is made while Cairn is built stands in the executable as one compressed text. As an object, the bundler
 * would repeat it wherever it is used.
 */

/** A value that JSON can hold, as a text. Runs while Cairn is built. */
export const pack = (value: unknown): string =>
  Buffer.from(Bun.zstdCompressSync(JSON.stringify(value), { level: 19 })).toString('base64')

export const unpack = <Value>(packed: string): Value =>
  JSON.parse(Bun.zstdDecompressSync(Buffer.from(packed, 'base64')).toString())
