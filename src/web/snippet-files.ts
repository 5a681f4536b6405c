import { bundledSnippet } from './bundle.ts' with { type: 'macro' }
import { integrityOf } from './integrity.ts'

/** The snippet as browsers load it; made while Cairn is built. */

const { files, page, module, types } = bundledSnippet()

/** A file of the snippet under the name that is its hash. */
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

/** Its name, and what a browser holds it against: for pages that want this version alone. */
export const pinnedSnippet = { file: pageScript.name, integrity: integrityOf(pageScript.text) }

/** For bundlers and browser extensions: all of it in one ES module, and its types. */
export const snippetModule = {
  'cairn.js': module,
  'cairn.d.ts': types,
}
