import http from 'node:http'

/** Large enough that an oversized token reaches us and is refused with our headers, not Bun's 431. */
const largestHeaderBytes = 2 * 1024 * 1024

/** Lets request headers be as large as `largestHeaderBytes`; Bun reads it when a server starts. */
export function maxHeaderSize(): void {
  // Typed as read-only, but it is how Bun's limit is set without a command-line flag.
  ;(http as { maxHeaderSize: number }).maxHeaderSize = largestHeaderBytes
}
