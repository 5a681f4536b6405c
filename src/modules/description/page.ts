import viewerLicence from 'swagger-ui-dist/LICENSE' with { type: 'file' }
import viewerStyle from 'swagger-ui-dist/swagger-ui.css' with { type: 'file' }
import viewer from 'swagger-ui-dist/swagger-ui-bundle.js' with { type: 'file' }
import partsLicences from 'swagger-ui-dist/swagger-ui-bundle.js.LICENSE.txt' with { type: 'file' }
import type { ReadBody } from '../../http/encoded.ts'
import icon from './page/icon.svg' with { type: 'file' }
import page from './page/index.html' with { type: 'file' }
import style from './page/page.css' with { type: 'file' }
import script from './page/page.js' with { type: 'file' }

const css = 'text/css; charset=utf-8'
const js = 'text/javascript; charset=utf-8'
const text = 'text/plain; charset=utf-8'

/**
 * The human page: a viewer, and what fits it to Cairn. The files lie in the executable and are read
 * when somebody opens the page; only their compressed forms are kept.
 */
const files = {
  // Bun's types know HTML only as a bundle.
  'index.html': { path: page as unknown as string, type: 'text/html; charset=utf-8' },
  'icon.svg': { path: icon, type: 'image/svg+xml' },
  'page.css': { path: style, type: css },
  'page.js': { path: script, type: js },
  'viewer.css': { path: viewerStyle, type: css },
  'viewer.js': { path: viewer, type: js },
  // Whoever passes the viewer on passes these on with it.
  'viewer-licence.txt': { path: viewerLicence, type: text },
  'viewer-parts-licences.txt': { path: partsLicences, type: text },
}

type FileName = keyof typeof files

export const isPageFile = (name: string): name is FileName => Object.hasOwn(files, name)

/** Nothing but what this server has, no script in the page itself, and no frame around it. */
export const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

interface PageFile extends ReadBody {
  type: string
}

async function load({ path, type }: { path: string; type: string }): Promise<PageFile> {
  const read = () => Bun.file(path).bytes()
  return { type, hash: Bun.hash.xxHash64(await read()).toString(36), read }
}

const loaded = new Map<FileName, Promise<PageFile>>()

/** A file of the page. */
export function pageFile(name: FileName): Promise<PageFile> {
  const file = loaded.get(name) ?? load(files[name])
  loaded.set(name, file)
  return file
}
