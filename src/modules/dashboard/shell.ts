import { Type } from '@sinclair/typebox'
import { brand } from '../../brand/files.ts'
import { AppError } from '../../core/errors.ts'
import { encodedReply } from '../../http/encoded.ts'
import { pathOf } from '../../http/request-context.ts'
import { type Route, route } from '../../http/route.ts'

/** Allows only what this server serves, nothing inline, and no text that becomes markup. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

/** Keeps pages of other sites from opening, embedding or loading it to look inside. */
const isolated = {
  'Content-Security-Policy': policy,
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
}

/**
 * Headers of the document in a preview's frame. It shows what an author wrote and needs none of the
 * dashboard's rights. So it has an origin of its own, without a cookie, sends no requests to any server, and
 * loads only the images that visitors would load.
 */
const previewHeaders = {
  ...isolated,
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    'img-src https: http: data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
    'sandbox allow-scripts',
  ].join('; '),
  'Content-Type': 'text/html; charset=utf-8',
  Vary: 'Accept-Encoding',
}

const pageHeaders = {
  ...isolated,
  'Content-Type': 'text/html; charset=utf-8',
  Vary: 'Accept-Encoding',
}

const assetHeaders = (type: string) => ({
  ...isolated,
  'Content-Type': `${type}; charset=utf-8`,
  // The file name contains the hash.
  'Cache-Control': 'public, max-age=31536000, immutable',
  Vary: 'Accept-Encoding',
})
const headersOfScripts = assetHeaders('text/javascript')
/** From the origin of the preview's frame, every file here is cross-origin. */
const headersOfPreview = {
  ...headersOfScripts,
  'Cross-Origin-Resource-Policy': 'cross-origin',
}
const headersOfStyles = assetHeaders('text/css')

const icon =
  'data:image/svg+xml,' +
  encodeURIComponent(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16" fill="#3e63dd"><ellipse cx="8" cy="13" rx="6.5" ry="2.5"/><ellipse cx="8" cy="8.2" rx="4.6" ry="2"/><ellipse cx="8" cy="4" rx="2.8" ry="1.7"/></svg>',
  )

const hashed = (text: string) => ({ text, hash: Bun.hash.xxHash64(text).toString(36) })

type Bundle = Awaited<typeof import('../../web/dashboard-files.ts')>['dashboard']

/** @param up the relative path from the page's address to `…/dashboard/` */
const pageOf = ({ script, style, preloads }: Bundle, up: string) =>
  hashed(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Cairn</title>
<link rel="icon" href="${icon}">
<link rel="preload" href="${up}../docs/${brand.fonts.latin}" as="font" type="font/woff2" crossorigin>
<link rel="stylesheet" href="${up}../docs/brand.css">
<link rel="stylesheet" href="${up}assets/${style}">
${preloads.map(name => `<link rel="modulepreload" href="${up}assets/${name}">\n`).join('')}<script type="module" src="${up}assets/${script}"></script>
</head>
<body>
<div id="app"></div>
<noscript>Cairn's dashboard needs JavaScript.</noscript>
</body>
</html>
`)

/** The document of every preview. Its flow is sent to it later. */
const previewOf = ({ preview }: Bundle) =>
  hashed(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Preview</title>
</head>
<body>
<script src="${preview}"></script>
</body>
</html>
`)

/** No page of the dashboard has a path with more levels. */
const maxDepth = 8

/** When run from the sources, the files are built on first use, because most tests never need them. */
async function prepare() {
  const { dashboard } = await import('../../web/dashboard-files.ts')
  const pages = [
    pageOf(dashboard, 'dashboard/'),
    ...Array.from({ length: maxDepth }, (_, depth) => pageOf(dashboard, '../'.repeat(depth))),
  ]
  const files = new Map(Object.entries(dashboard.files).map(([name, text]) => [name, hashed(text)]))
  return { pages, files, preview: { name: dashboard.preview, document: previewOf(dashboard) } }
}

let prepared: ReturnType<typeof prepare> | null = null
const made = () => {
  prepared ??= prepare()
  return prepared
}

const nothingHere = () => new AppError('not_found', 'Nothing exists at this path')

const file = {
  method: 'GET',
  tag: 'Description',
  caller: 'anyone',
  isProductFile: true,
  readers: 'no page',
  responses: {
    200: { description: 'The page.', schema: Type.String(), example: '', type: 'text/html' },
  },
} as const

/** The same page answers at every address of the dashboard; its script decides what to show. */
const page = (path: string, operation: string) =>
  route({
    ...file,
    path,
    operation,
    summary: 'Get the dashboard, at each of its addresses',
    async handle(call) {
      const depth = pathOf(call.request).split('/').length - 2
      const { pages } = await made()
      const found = pages[depth]
      if (!found) throw nothingHere()
      return encodedReply(call, found, pageHeaders)
    },
  })

/** The dashboard's page and the files that it loads. They contain nobody's data. */
export const shellRoutes: Route[] = [
  page('/dashboard', 'getDashboard'),
  page('/dashboard/*', 'getDashboardPage'),
  route({
    ...file,
    path: '/dashboard/assets/:file',
    operation: 'getDashboardFile',
    summary: 'Get a file that the dashboard loads',
    async handle(call) {
      const { files, preview } = await made()
      const name = pathOf(call.request).split('/').at(-1) ?? ''
      if (name === 'preview.html') return encodedReply(call, preview.document, previewHeaders)
      const found = files.get(name)
      if (!found) throw nothingHere()
      if (name === preview.name) return encodedReply(call, found, headersOfPreview)
      return encodedReply(call, found, name.endsWith('.css') ? headersOfStyles : headersOfScripts)
    },
  }),
]
