import { defaultLimits } from '../../core/organisation/limits.ts'
import { version } from '../../core/version.ts'
import { ValidationError } from '../responder.ts'
import { type Route, tags } from '../route.ts'
import { errorComponents, publicErrors } from './errors.ts'
import { headers } from './headers.ts'
import introduction from './introduction.md' with { type: 'text' }
import { SchemaBook } from './json-schema.ts'
import { operationOf, templateOf } from './operation.ts'

/** The ways in which callers can authenticate. */
export const securitySchemes = {
  snippetKey: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'snippet key',
    description: 'The 32 characters in your page: `Authorization: Bearer <key>`.',
  },
  snippetKeyInQuery: {
    type: 'apiKey',
    in: 'query',
    name: 'key',
    description: 'The same key as `?key=`, for beacons.',
  },
  managementToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'management token',
    description: 'From `cairn token create` or this API: `crn_…`.',
  },
  sessionToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'From your identity provider or `cairn token issue`.',
  },
} as const

const limitRows = Object.entries(defaultLimits).map(
  ([bucket, requests]) => `| \`${bucket}\` | ${requests} |`,
)

const errorRows = publicErrors.map(
  ([code, { status, when, sentence }]) =>
    `| ${status} | ${sentence === undefined ? `\`${code}\`` : '–'} | ${when} |`,
)

/** What holds for every route, as Markdown. */
const description = introduction
  .replace('{limits}', () => limitRows.join('\n'))
  .replace('{errors}', () => errorRows.join('\n'))
  .trim()

/** The API as an OpenAPI 3.1 document, from the same schemas that validate requests. */
export function documentOf(routes: readonly Route[]) {
  const book = new SchemaBook()
  book.of(ValidationError)
  const paths: Record<string, Record<string, ReturnType<typeof operationOf>>> = {}
  for (const route of routes) {
    if (route.isProductFile) continue
    const path = templateOf(route.path)
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, book) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Cairn',
      version,
      summary: 'In-app onboarding: tours, checklists, announcements, and their analytics.',
      description,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    // Relative to the document, because a proxy may serve the API under a path of its own.
    servers: [{ url: '../v1', description: 'This server' }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes,
      schemas: book.components,
      responses: errorComponents,
      headers,
    },
  }
}
