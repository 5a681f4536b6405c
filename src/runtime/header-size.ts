import http from 'node:http'

/**
 * Large enough that an oversized token reaches Cairn and is refused with Cairn's headers, not Bun's 431.
 * Small enough that nobody can make Bun spend milliseconds on reading what is refused in the end: 2 MiB of a
 * target that has to be encoded took 35.
 */
const largestHeaderBytes = 64 * 1024

/** Lets request headers be as large as `largestHeaderBytes`, which Bun reads when a server starts. */
export function maxHeaderSize(): void {
  // Typed as read-only, but it is how Bun's limit is set without a command-line flag.
  ;(http as { maxHeaderSize: number }).maxHeaderSize = largestHeaderBytes
}
