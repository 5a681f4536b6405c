import { brotliCompressSync, gzipSync } from 'node:zlib'
import { pageScript, snippetFiles, snippetModule } from '../../src/web/snippet-files.ts'

/** The maximum size of what every page loads, gzipped. */
export const maxPageBytes = 16 * 1024

/** The maximum size of what a due flow loads, without questions and videos, gzipped. */
export const maxStageBytes = 66 * 1024

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
