import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { integrityOf } from './integrity.ts'

/**
 * Makes what browsers load from its sources. Runs while Cairn is built (and, from the sources, when
 * the importing file is loaded): the executable holds the results as texts, and no bundler.
 */

const sources = join(import.meta.dir, 'snippet')

/** Bun's own bundler as a program: from within a build it cannot be called. */
function bundled(entry: string, format: 'iife' | 'esm', defines: Record<string, string>): string {
  const { success, stdout, stderr } = Bun.spawnSync(
    [
      process.execPath,
      'build',
      join(sources, entry),
      '--target=browser',
      '--minify',
      `--format=${format}`,
      ...Object.entries(defines).map(
        ([name, value]) => `--define=${name}=${JSON.stringify(value)}`,
      ),
    ],
    { env: { ...process.env, BUN_BE_BUN: '1' } },
  )
  if (!success) throw new Error(`${entry} could not be bundled: ${stderr.toString()}`)
  return stdout.toString()
}

/**
 * Has V8 compile all of a script while it is fetched, beside the page's main thread, where functions
 * would be compiled one by one as they are called: half of the start (explicit compile hints, V8 13.6).
 */
const compileHint = '//# allFunctionsCalledOnLoad\n'

/** What `module.ts` exports beside the types. */
const startsIt = `
/**
 * Starts the snippet. Asks for no global of the page, and loads no further script. Where there is no
 * page, as under a server-side renderer, it does nothing, and says so once.
 */
export declare function cairn(settings: Settings): Cairn
`

/** Enough of a hash that no two releases share a name. */
const shortHash = (text: string) =>
  new Bun.CryptoHasher('sha256').update(text).digest('hex').slice(0, 16)

/** The snippet's files by name, and which of them are what. */
export function bundledSnippet(): {
  files: Record<string, string>
  page: string
  renderer: string
  module: string
  types: string
} {
  const { version } = JSON.parse(readFileSync(join(import.meta.dir, '../../package.json'), 'utf8'))
  const defines = { CAIRN_BUILD_VERSION: version }
  const rendererText = bundled('renderer.ts', 'esm', defines)
  const renderer = `snippet-renderer-${shortHash(rendererText)}.js`
  const authorText = bundled('../author/author.ts', 'esm', defines)
  const author = `snippet-author-${shortHash(authorText)}.js`
  const pageCode = bundled('page.ts', 'iife', {
    ...defines,
    CAIRN_SNIPPET_AUTHOR: author,
    CAIRN_SNIPPET_AUTHOR_INTEGRITY: integrityOf(authorText),
    CAIRN_SNIPPET_RENDERER: renderer,
    CAIRN_SNIPPET_RENDERER_INTEGRITY: integrityOf(rendererText),
  })
  const pageText = compileHint + pageCode
  const page = `snippet-${shortHash(pageText)}.js`
  const moduleText = bundled('module.ts', 'esm', defines)
  return {
    files: { [renderer]: rendererText, [author]: authorText, [page]: pageText },
    page,
    renderer,
    module: moduleText,
    types: `${readFileSync(join(sources, 'api.ts'), 'utf8')}${startsIt}`,
  }
}
