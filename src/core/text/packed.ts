/** The highest level that needs no extra memory to unpack. */
const level = 19

/** A value as JSON, compressed, in base64: for texts that are made while Cairn is built. */
export const packed = (value: unknown): string =>
  Buffer.from(Bun.zstdCompressSync(JSON.stringify(value), { level })).toString('base64')

export const unpacked = <T>(text: string): T =>
  JSON.parse(Bun.zstdDecompressSync(Buffer.from(text, 'base64')).toString()) as T
