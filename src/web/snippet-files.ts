import { unpacked } from '../core/text/packed.ts'
import { packedSnippet } from './bundle.ts' with { type: 'macro' }
import type { SnippetBundle } from './bundle.ts'
import { integrityOf } from './integrity.ts'

/** The snippet as browsers load it; made while Cairn is built. */

const { files, page, module, types } = unpacked<SnippetBundle>(packedSnippet())

/** A file of the snippet, whose name contains its hash. */
export interface SnippetFile {
  name: string
  text: string
}

/** What this Cairn serves, the script of the page first. */
export const snippetFiles: readonly SnippetFile[] = Object.entries(files)
  .map(([name, text]) => ({ name, text }))
  .sort((a, b) => Number(b.name === page) - Number(a.name === page))

/** The file that a page names in its tag. */
export const pageScript = snippetFiles[0] as SnippetFile

/** The name and hash of the page's script, for pages that want only this version. */
export const pinnedSnippet = { file: pageScript.name, integrity: integrityOf(pageScript.text) }

/** For bundlers and browser extensions: the whole snippet in one ES module, and its types. */
export const snippetModule = {
  'cairn.js': module,
  'cairn.d.ts': types,
}
