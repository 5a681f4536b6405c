import viewerLicence from 'swagger-ui-dist/LICENSE' with { type: 'file' }
import viewerStyle from 'swagger-ui-dist/swagger-ui.css' with { type: 'file' }
import viewer from 'swagger-ui-dist/swagger-ui-bundle.js' with { type: 'file' }
import partsLicences from 'swagger-ui-dist/swagger-ui-bundle.js.LICENSE.txt' with { type: 'file' }
import { brand } from '../../brand/files.ts'
import { siteHead, siteHeader } from '../../brand/header.ts'
import { hashOf, prepared, type ReadBody } from '../../http/encoded.ts'
import icon from './page/icon.svg' with { type: 'file' }
import index from './page/index.html' with { type: 'text' }
import style from './page/page.css' with { type: 'file' }
import script from './page/page.js' with { type: 'file' }

const css = 'text/css; charset=utf-8'
const js = 'text/javascript; charset=utf-8'
const text = 'text/plain; charset=utf-8'

interface Source {
  path: string
  type: string
}

/**
 * What the page loads: a viewer, and what adapts it to Cairn. All of it is in the executable and is read
 * when the page is opened. Only the compressed forms stay in memory.
 */
const files = {
  'icon.svg': { path: icon, type: 'image/svg+xml' },
  'page.css': { path: style, type: css },
  'page.js': { path: script, type: js },
  'viewer.css': { path: viewerStyle, type: css },
  'viewer.js': { path: viewer, type: js },
  // Licences that have to accompany the viewer wherever it is passed on.
  'viewer-licence.txt': { path: viewerLicence, type: text },
  'viewer-parts-licences.txt': { path: partsLicences, type: text },
}

type FileName = keyof typeof files

export const isPageFile = (name: string): name is FileName => Object.hasOwn(files, name)

interface PageFile extends ReadBody {
  type: string
}

async function load({ path, type }: Source): Promise<PageFile> {
  const read = () => Bun.file(path).bytes()
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
