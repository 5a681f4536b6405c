import { brotliCompressSync, gzipSync } from 'node:zlib'
import { pageScript, snippetFiles, snippetModule } from '../../src/web/snippet-files.ts'

/** What every page loads is at most so large, gzipped. */
export const mostPageBytes = 15 * 1024

export interface Size {
  what: string
  raw: number
  gzip: number
  brotli: number
}

/** Bytes of each of the snippet's files, what every page loads first. */
export function snippetSizes(): Size[] {
  const sizeOf = (what: string, text: string): Size => ({
    what,
    raw: Buffer.byteLength(text),
    gzip: gzipSync(text).length,
    brotli: brotliCompressSync(text).length,
  })
  return [
    ...snippetFiles.map(({ name, text }) =>
      sizeOf(name === pageScript.name ? 'on every page' : 'when a flow is due', text),
    ),
    sizeOf('as a module, all in one', snippetModule['cairn.js']),
  ]
}
