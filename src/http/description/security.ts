import { type Route, takesKeyInQuery } from '../route.ts'

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

/** The schemes that a route accepts; any one entry of the list is enough. */
export function securityOf(route: Route): Record<string, never[]>[] {
  if (route.caller === 'anyone') return []
  if (route.caller === 'management') return [{ managementToken: [] }]
  if (route.caller === 'session token') return [{ sessionToken: [] }]
  return takesKeyInQuery(route)
    ? [{ snippetKey: [] }, { snippetKeyInQuery: [] }]
    : [{ snippetKey: [] }]
}
