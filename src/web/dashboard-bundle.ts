import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packed } from '../core/text/packed.ts'

/**
 * Makes the dashboard's files from its sources. Runs while Cairn is built (and, from the sources, when
 * the importing file is loaded), as `bundle.ts` does for the snippet.
 */

const sources = join(import.meta.dir, 'dashboard')

/** What a page of the dashboard loads. */
export interface DashboardBundle {
  /** Texts by name; each name holds the text's hash. */
  files: Record<string, string>
  /** The script and the style that the page names. */
  script: string
  style: string
  /** What the script imports at once. */
  preloads: string[]
  /** The script of the document in a preview's frame. */
  preview: string
}

/** Bun's own bundler as a program: from within a build it cannot be called. */
function bundle(folder: string, entry: string, ...options: string[]): void {
  const { success, stderr } = Bun.spawnSync(
    [
      process.execPath,
      'build',
      join(sources, entry),
      `--outdir=${folder}`,
      '--minify',
      // What several pages share is called after the entry by default, and could be taken for it.
      '--entry-naming=entry-[hash].[ext]',
      '--chunk-naming=[name]-[hash].[ext]',
      ...options,
    ],
    { env: { ...process.env, NODE_ENV: 'production', BUN_BE_BUN: '1' } },
  )
  if (!success) throw new Error(`${entry} could not be bundled: ${stderr.toString()}`)
}

const shortHash = (text: string) =>
  new Bun.CryptoHasher('sha256').update(text).digest('hex').slice(0, 16)

/** What a script imports when it is loaded, by name; not what it imports later. */
const importsOf = (text: string) =>
  [...text.matchAll(/(?:from|import)\s*"\.\/([^"]+\.js)"/g)].map(([, name = '']) => name)

/**
 * The script of a preview's frame, whole: the frame has an origin of its own, to which a module would
 * have to be lent (CORS), and a script need not be.
 */
function bundledPreview(): string {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-preview-'))
  try {
    bundle(folder, 'authoring/preview/frame/frame.ts', '--target=browser', '--format=iife')
    return readFileSync(join(folder, readdirSync(folder)[0]!), 'utf8')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The dashboard's files by name, and which of them are what. */
function bundledDashboard(): DashboardBundle {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-dashboard-'))
  try {
    const define = '--define=process.env.NODE_ENV="production"'
    bundle(folder, 'main.tsx', '--target=browser', '--format=esm', '--splitting', define)
    // For browsers, Bun would rewrite logical properties and light-dark() for older ones, badly.
    bundle(folder, 'styles/main.css', '--target=bun')
    const files: Record<string, string> = {}
    let style = ''
    for (const name of readdirSync(folder).sort()) {
      const text = readFileSync(join(folder, name), 'utf8')
      if (name.endsWith('.css')) {
        style = `main-${shortHash(text)}.css`
        files[style] = text
      } else files[name] = text
    }
    const script = Object.keys(files).find(name => /^entry-\w+\.js$/.test(name))!
    const preloads = new Set<string>()
    const follow = (name: string) => {
      for (const imported of importsOf(files[name]!)) {
        if (preloads.has(imported)) continue
        preloads.add(imported)
        follow(imported)
      }
    }
    follow(script)
    const previewText = bundledPreview()
    const preview = `preview-${shortHash(previewText)}.js`
    files[preview] = previewText
    return { files, script, style, preloads: [...preloads], preview }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export const packedDashboard = (): string => packed(bundledDashboard())
