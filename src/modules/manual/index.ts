import { Type } from '@sinclair/typebox'
import { AppError } from '../../core/errors.ts'
import { encodedReply, ofAnyone, pagePolicy, prepared } from '../../http/encoded.ts'
import { pathOf } from '../../http/request-context.ts'
import { type Route, route } from '../../http/route.ts'
import { compiledPages } from '../../manual/compile.ts' with { type: 'macro' }
import style from './page/manual.css' with { type: 'text' }
import script from './page/manual.js' with { type: 'text' }

const pages = compiledPages()

const fileOf = (text: string, type: string) => ({
  body: prepared(text),
  headers: { 'Content-Type': type, 'Content-Security-Policy': pagePolicy(), ...ofAnyone },
})

const page = (html: string) => fileOf(html, 'text/html; charset=utf-8')
const javascript = 'text/javascript; charset=utf-8'

const index = page(pages.index)

/** The pages of the topics by name, and the files that they load. */
const files = new Map([
  ...Object.entries(pages.topics).map(([name, html]) => [name, page(html)] as const),
  ['manual.css', fileOf(style, 'text/css; charset=utf-8')],
  ['manual.js', fileOf(script, javascript)],
  ['search.js', fileOf(pages.search, javascript)],
])

const file = {
  method: 'GET',
  tag: 'Description',
  caller: 'anyone',
  isProductFile: true,
  answers: {
    200: { description: 'The page.', schema: Type.String(), example: '', type: 'text/html' },
  },
} as const

/** The manual, for browsers. */
export const manualRoutes: Route[] = [
  route({
    ...file,
    path: '/docs',
    operation: 'getManual',
    summary: 'The topics of the manual',
    handle: call => encodedReply(call, index.body, index.headers),
  }),
  route({
    ...file,
    path: '/docs/:file',
    operation: 'getManualFile',
    summary: 'A topic of the manual, or what its page loads',
    handle(call) {
      const found = files.get(pathOf(call.request).split('/').at(-1) ?? '')
      if (!found) throw new AppError('not_found', 'There is nothing at this path')
      return encodedReply(call, found.body, found.headers)
    },
  }),
]
