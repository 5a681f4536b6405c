import { brotliCompressSync, gzipSync } from 'node:zlib'
import { pageScript, snippetFiles, snippetModule } from '../../src/web/snippet-files.ts'

/** What every page loads is at most so large, gzipped. */
export const mostPageBytes = 15 * 1024

/** What is loaded when a flow is due, questions and videos aside, is at most so large, gzipped. */
export const mostStageBytes = 55 * 1024

export interface Size {
  what: string
  raw: number
  gzip: number
  brotli: number
}

/** What a file is, of `snippet-<part>-<hash>.js`. */
const partOf = (name: string) => name.split('-')[1]

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
      sizeOf(name === pageScript.name ? 'on every page' : `the ${partOf(name)}, on demand`, text),
    ),
    sizeOf('as a module, all in one', snippetModule['cairn.js']),
  ]
}
