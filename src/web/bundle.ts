import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packed } from '../core/text/packed.ts'
import { integrityOf } from './integrity.ts'

/**
 * Bundles what browsers load from its sources. Runs while Cairn is built (and, when Cairn runs from its
 * sources, when the importing file is loaded). The executable holds the results as text, and no bundler.
 */

const sources = join(import.meta.dir, 'snippet')

/** @param entry relative to the snippet's folder */
export function bundled(
  entry: string,
  format: 'iife' | 'esm',
  defines: Record<string, string>,
): string {
  const { success, stdout, stderr } = Bun.spawnSync(
    [
      ...[process.execPath, 'run', join(import.meta.dir, 'bundling.ts')],
      ...[join(sources, entry), format, JSON.stringify(defines)],
    ],
    { env: { ...process.env, BUN_BE_BUN: '1' } },
  )
  if (!success) throw new Error(`${entry} could not be bundled: ${stderr.toString()}`)
  return stdout.toString()
}

/**
 * Makes V8 compile all of a script while it is fetched, off the page's main thread. Otherwise functions
 * would be compiled there one by one as they are called, which is half of the start (explicit compile
 * hints, V8 13.6).
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

/** The snippet's files by name, and which of them is which. */
export interface SnippetBundle {
  files: Record<string, string>
  page: string
  renderer: string
  module: string
  types: string
}

function bundledSnippet(): SnippetBundle {
  const { version } = JSON.parse(readFileSync(join(import.meta.dir, '../../package.json'), 'utf8'))
  const defines: Record<string, string> = { CAIRN_BUILD_VERSION: version }
  const files: Record<string, string> = {}
  /** Bundles a file that is loaded on demand, and defines its name and its integrity hash. */
  const onDemand = (name: string, entry: string): string => {
    const text = bundled(entry, 'esm', defines)
    const file = `snippet-${name}-${shortHash(text)}.js`
    files[file] = text
    defines[`CAIRN_SNIPPET_${name.toUpperCase()}`] = file
    defines[`CAIRN_SNIPPET_${name.toUpperCase()}_INTEGRITY`] = integrityOf(text)
    return file
  }
  onDemand('question', 'stage/question.ts')
  onDemand('video', 'stage/video.ts')
  onDemand('highlight', 'stage/highlight.ts')
  onDemand('launcher', 'stage/launcher.ts')
  onDemand('inspection', 'inspection/inspection.ts')
  onDemand('author', '../author/author.ts')
  onDemand('preview', '../preview/preview.ts')
  const renderer = onDemand('renderer', 'renderer.ts')
  onDemand('timing', 'timing.ts')
  onDemand('headless', 'headless.ts')
  const pageText = compileHint + bundled('page.ts', 'iife', defines)
  const page = `snippet-${shortHash(pageText)}.js`
  files[page] = pageText
  const moduleText = bundled('module.ts', 'esm', defines)
  return {
    files,
    page,
    renderer,
    module: moduleText,
    types: `${readFileSync(join(sources, 'api.ts'), 'utf8')}${startsIt}`,
  }
}

export const packedSnippet = (): string => packed(bundledSnippet())
