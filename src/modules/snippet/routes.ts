import { Type } from '@sinclair/typebox'
import { AppError } from '../../core/errors.ts'
import { encodedReply, prepared } from '../../http/encoded.ts'
import { pathOf } from '../../http/request-context.ts'
import { type Route, route } from '../../http/route.ts'
import { pageScript, snippetFiles } from '../../web/snippet-files.ts'

export interface SnippetDeps {
  /** A file that an older release served under its hash, or null. */
  olderSnippetFile(name: string): Promise<string | null>
}

const script = {
  'Content-Type': 'text/javascript; charset=utf-8',
  Vary: 'Origin, Accept-Encoding',
  // Pages that isolate themselves (COEP) load nothing from another origin without this.
  'Cross-Origin-Resource-Policy': 'cross-origin',
}

/** Always the newest, so that an upgrade of the server reaches every page within five minutes. */
const newest = { ...script, 'Cache-Control': 'public, max-age=300' }

/** The file name contains the hash. */
const immutable = { ...script, 'Cache-Control': 'public, max-age=31536000, immutable' }

const own = new Map(snippetFiles.map(({ name, text }) => [name, prepared(text)]))
const newestPage = prepared(pageScript.text)

const file = {
  method: 'GET',
  tag: 'Description',
  caller: 'anyone',
  isProductFile: true,
  responses: {
    200: { description: 'The script.', schema: Type.String(), example: '', type: '*/*' },
  },
} as const

/** Routes for the script that pages load, and for what it loads itself. */
export function snippetRoutes({ olderSnippetFile }: SnippetDeps): Route[] {
  /**
   * Compressed files of older releases. Each stays in memory once it was requested, because few releases
   * are ever in use.
   */
  const older = new Map<string, ReturnType<typeof prepared>>()

  async function olderOne(name: string) {
    const known = older.get(name)
    if (known) return known
    const text = await olderSnippetFile(name)
    if (text === null) throw new AppError('not_found', 'Nothing exists at this path')
    const found = prepared(text)
    older.set(name, found)
    return found
  }

  return [
    route({
      ...file,
      path: '/snippet.js',
      operation: 'getSnippet',
      summary: 'Get the newest snippet',
      handle: call => encodedReply(call, newestPage, newest),
    }),
    route({
      ...file,
      path: '/snippet-:file',
      operation: 'getSnippetFile',
      summary: 'Get a file of the snippet by its hash',
      async handle(call) {
        const name = pathOf(call.request).slice(1)
        return encodedReply(call, own.get(name) ?? (await olderOne(name)), immutable)
      },
    }),
  ]
}
