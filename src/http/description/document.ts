import { version } from '../../core/version.ts'
import { ValidationError } from '../responder.ts'
import type { Route } from '../route.ts'
import { errorComponents } from './errors.ts'
import { headers } from './headers.ts'
import { introduction } from './introduction.ts'
import { SchemaBook } from './json-schema.ts'
import { operationOf, templateOf } from './operation.ts'
import { securitySchemes } from './security.ts'
import { tags } from './tags.ts'

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
      description: introduction,
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
