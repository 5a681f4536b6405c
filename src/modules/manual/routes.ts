import { Type } from '@sinclair/typebox'
import brandScript from '../../brand/brand.js' with { type: 'text' }
import { brand, fontFiles } from '../../brand/files.ts'
import { AppError } from '../../core/errors.ts'
import { unpacked } from '../../core/text/packed.ts'
import { encodedReply, ofAnyone, pagePolicy, prepared } from '../../http/encoded.ts'
import { asksForPage, pathOf } from '../../http/request-context.ts'
import type { Reply } from '../../http/responder.ts'
import { type Route, route } from '../../http/route.ts'
import { packedPages } from '../../manual/compile.ts' with { type: 'macro' }
import type { ManualPages } from '../../manual/compile.ts'
import { pictures } from '../../manual/pictures.ts'
import style from './page/manual.css' with { type: 'text' }
import script from './page/manual.js' with { type: 'text' }

const pages = unpacked<ManualPages>(packedPages())

const headersOf = (type: string) => ({
  'Content-Type': type,
  'Content-Security-Policy': pagePolicy(),
})

const fileOf = (text: string, type: string) => ({
  body: prepared(text),
  headers: { ...headersOf(type), ...ofAnyone },
})

const html = 'text/html; charset=utf-8'
const page = (text: string) => fileOf(text, html)
const css = 'text/css; charset=utf-8'
const javascript = 'text/javascript; charset=utf-8'

const index = page(pages.index)

/** The pages of the topics by name, the files that they load, and those that all of Cairn's pages load. */
const files = new Map([
  ...Object.entries(pages.topics).map(([name, html]) => [name, page(html)] as const),
  ['brand.css', fileOf(brand.style, css)],
  ['brand.js', fileOf(brandScript, javascript)],
  ['manual.css', fileOf(style, css)],
  ['manual.js', fileOf(script, javascript)],
  ['search.js', fileOf(pages.search, javascript)],
  ['alerts.yaml', fileOf(pages.alertRules, 'application/yaml')],
  ['grafana.json', fileOf(pages.grafana, 'application/json')],
])

const pictureHeaders = { 'Content-Type': 'image/webp', ...ofAnyone }

const fontHeaders = {
  'Content-Type': 'font/woff2',
  // The file name contains the hash.
  'Cache-Control': 'public, max-age=31536000, immutable',
}

/** How many levels below `/docs` a page may be missing: each makes all links of the response longer. */
const maxDepth = 8
const missingHeaders = headersOf(html)

/** The page that a browser gets for a missing topic; null for other clients. */
export function missingPage(request: Request): Reply | null {
  const levels = pathOf(request).split('/').length - 2
  if (levels > maxDepth || !asksForPage(request)) return null
  const up = '../'.repeat(levels - 1)
  const body = pages.missing.replaceAll(/ (href|src)="(?!#)/g, ` $1="${up}`)
  return { status: 404, body, headers: missingHeaders }
}

const file = {
  method: 'GET',
  tag: 'Description',
  caller: 'anyone',
  isProductFile: true,
  responses: {
    200: { description: 'The page.', schema: Type.String(), example: '', type: 'text/html' },
  },
} as const

/** The manual, for browsers. */
export const manualRoutes: Route[] = [
  route({
    ...file,
    path: '/docs',
    operation: 'getManual',
    summary: 'Get the topics of the manual',
    handle: call => encodedReply(call, index.body, index.headers),
  }),
  route({
    ...file,
    path: '/docs/:file',
    operation: 'getManualFile',
    summary: 'Get a topic of the manual, or a file that its page loads',
    handle(call) {
      const name = pathOf(call.request).split('/').at(-1) ?? ''
      const found = files.get(name)
      if (found) return encodedReply(call, found.body, found.headers)
      const font = fontFiles.get(name)
      if (font) return { status: 200, body: Bun.file(font), headers: fontHeaders }
      const picture = pictures.get(name)
      if (picture) return { status: 200, body: Bun.file(picture), headers: pictureHeaders }
      const instead = missingPage(call.request)
      if (instead) return instead
      throw new AppError('not_found', 'Nothing exists at this path')
    },
  }),
]
