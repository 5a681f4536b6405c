import { brand } from '../../brand/files.ts'
import { siteHead, siteHeader } from '../../brand/header.ts'
import { hashOf, prepared, type ReadBody } from '../../http/encoded.ts'
import icon from './page/icon.svg' with { type: 'file' }
import index from './page/index.html' with { type: 'text' }
import style from './page/page.css' with { type: 'file' }
import script from './page/page.js' with { type: 'file' }
import type { ViewerFile } from './viewer-bundle.ts'

const css = 'text/css; charset=utf-8'
const js = 'text/javascript; charset=utf-8'
const text = 'text/plain; charset=utf-8'

interface PageFile extends ReadBody {
  type: string
}

type Source = Omit<PageFile, 'hash'>

const embedded = (path: string, type: string): Source => ({
  type,
  read: () => Bun.file(path).bytes(),
})

/** The viewer is loaded only when a page asks for it, because it is large. */
const ofViewer = (name: ViewerFile, type: string): Source => ({
  type,
  read: async () => new TextEncoder().encode((await import('./viewer.ts')).viewerText(name)),
})

/**
 * What the page loads: a viewer, and what adapts it to Cairn. All of it is in the executable and is read
 * when the page is opened. Only the compressed forms stay in memory.
 */
const files = {
  'icon.svg': embedded(icon, 'image/svg+xml'),
  'page.css': embedded(style, css),
  'page.js': embedded(script, js),
  'viewer.css': ofViewer('viewer.css', css),
  'viewer.js': ofViewer('viewer.js', js),
  'viewer-licence.txt': ofViewer('viewer-licence.txt', text),
  'viewer-parts-licences.txt': ofViewer('viewer-parts-licences.txt', text),
}

type FileName = keyof typeof files

export const isPageFile = (name: string): name is FileName => Object.hasOwn(files, name)

async function load({ type, read }: Source): Promise<PageFile> {
  return { type, hash: hashOf(await read()), read }
}

const loaded = new Map<Source, Promise<PageFile>>()

function loadedOnce(source: Source): Promise<PageFile> {
  const file = loaded.get(source) ?? load(source)
  loaded.set(source, file)
  // A failure is not cached, so that the next caller tries again.
  file.catch(() => loaded.delete(source))
  return file
}

const header = siteHeader(
  '../../',
  'API',
  `<nav id="parts" aria-label="Parts of the API"></nav>
<button id="authorize" type="button" hidden>Authorize</button>`,
)

/** The page itself. It is not among the files, so that it is never sent without its policy. */
export const page = prepared(
  // Bun's types know HTML only as a bundle.
  (index as unknown as string)
    .replace('<!-- head -->', siteHead('../../', brand.fonts.latin))
    .replace('<!-- header -->', header),
)

export const pageFile = (name: FileName) => loadedOnce(files[name])
