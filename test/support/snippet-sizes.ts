import { brotliCompressSync, gzipSync } from 'node:zlib'
import { pageScript, snippetFiles, snippetModule } from '../../src/web/snippet-files.ts'

/** The most that every page may load, gzipped. */
export const mostPageBytes = 16 * 1024

/** The most that may be loaded when a flow is due, without questions and videos, gzipped. */
export const mostStageBytes = 65 * 1024

export interface Size {
  what: string
  raw: number
  gzip: number
  brotli: number
}

/** The part in a file's name, `snippet-<part>-<hash>.js`. */
const partOf = (name: string) => name.split('-')[1]

/** Bytes of each of the snippet's files; what every page loads comes first. */
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
