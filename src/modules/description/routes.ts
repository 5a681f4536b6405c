import { Type } from '@sinclair/typebox'
import { AppError } from '../../core/errors.ts'
import { documentOf } from '../../http/description/document.ts'
import { encodedReply, ofAnyone, pagePolicy, prepared } from '../../http/encoded.ts'
import { pathOf } from '../../http/request-context.ts'
import { jsonType } from '../../http/responder.ts'
import { type Route, route } from '../../http/route.ts'
import { isPageFile, page, pageFile } from './page.ts'

const Part = (description: string) =>
  Type.Record(Type.String(), Type.Unknown(), { description, examples: [{}] })

const OpenApiDocument = Type.Object({
  openapi: Type.String({ examples: ['3.1.0'] }),
  info: Part('Title, version and introduction.'),
  servers: Type.Array(Part('Address of the API.')),
  tags: Type.Array(Part('Groups of operations.')),
  paths: Part('Operations by path and method.'),
  components: Part('Schemas, responses and parameters that operations share.'),
})

/** The page may fetch the document, and send the requests that people try out. */
const policy = pagePolicy("connect-src 'self'")

/**
 * The description of the API, for programs and for people.
 *
 * @param routes all routes to describe; read at the first request, when all of them have been added
 */
export function descriptionRoutes(routes: readonly Route[]): Route[] {
  let document: ReturnType<typeof prepared> | null = null
  return [
    route({
      method: 'GET',
      path: '/openapi.json',
      operation: 'getDescription',
      tag: 'Description',
      summary: 'Get this description as OpenAPI 3.1',
      caller: 'anyone',
      responses: {
        200: {
          description: 'The document.',
          schema: OpenApiDocument,
          isShared: true,
        },
      },
      handle(call) {
        document ??= prepared(JSON.stringify(documentOf(routes)))
        return encodedReply(call, document, { 'Content-Type': jsonType, ...ofAnyone })
      },
    }),
    route({
      method: 'GET',
      path: '/docs',
      operation: 'getDocumentation',
      tag: 'Description',
      summary: 'Get this description as a page that can send requests',
      caller: 'anyone',
      responses: {
        200: {
          description: 'The page. It loads nothing from another host.',
          schema: Type.String(),
          example: '<!doctype html>',
          type: 'text/html',
          isShared: true,
        },
      },
      handle(call) {
        return encodedReply(call, page, {
          'Content-Type': 'text/html; charset=utf-8',
          'Content-Security-Policy': policy,
          ...ofAnyone,
        })
      },
    }),
    route({
      method: 'GET',
      path: '/docs/:file',
      operation: 'getDocumentationFile',
      tag: 'Description',
      summary: 'Get a script, style or image of the page',
      caller: 'anyone',
      responses: {
        200: {
          description: 'The file.',
          schema: Type.String(),
          example: '',
          type: '*/*',
          isShared: true,
        },
      },
      async handle(call) {
        const name = pathOf(call.request).split('/').at(-1) ?? ''
        if (!isPageFile(name)) throw new AppError('not_found', 'Nothing exists at this path')
        const file = await pageFile(name)
        return encodedReply(call, file, { 'Content-Type': file.type, ...ofAnyone })
      },
    }),
  ]
}
