import { afterAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Validator } from '@seriousme/openapi-schema-validator'
import { type ErrorEntry, errors } from '../../src/core/errors.ts'
import { csvColumns } from '../../src/modules/analytics/csv.ts'
import { definitionsOf } from '../../src/modules/analytics/query.ts'
import { Description, type Document } from '../support/described.ts'
import { Tenant } from '../support/tenant.ts'
import { World } from '../support/world.ts'

/** The API's description: it is valid, it says everything, and it is served. */

const world = new World()
afterAll(() => world.close())
const tenant = await Tenant.of(world)
const anonymously = { credential: null }

const response = await tenant.ask('GET /openapi.json', anonymously)
const text = await response.text()
const document = JSON.parse(text) as Document & Record<string, unknown>
const description = new Description(document)

const routes = world.routes.filter(({ isProductFile }) => !isProductFile)

/** Every schema of a document, wherever it stands. */
function* schemasIn(value: unknown, path = ''): Iterable<[string, Record<string, unknown>]> {
  if (Array.isArray(value)) {
    for (const [i, part] of value.entries()) yield* schemasIn(part, `${path}/${i}`)
  } else if (typeof value === 'object' && value !== null) {
    yield [path, value as Record<string, unknown>]
    for (const [name, part] of Object.entries(value)) {
      if (name !== 'example' && name !== 'examples') yield* schemasIn(part, `${path}/${name}`)
    }
  }
}

test('is a valid OpenAPI 3.1 document', async () => {
  const { valid, errors } = await new Validator().validate(structuredClone(document))
  expect(errors).toBeUndefined()
  expect(valid).toBe(true)
})

test('has every route, and nothing else', () => {
  const described = description.all.map(({ method, path }) => `${method} ${path}`)
  const declared = routes.map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`)
  expect(described.toSorted()).toEqual(declared.toSorted())
})

test('says for every route which credential it takes', () => {
  const schemes: Record<string, string> = {
    'snippet key': 'snippetKey',
    'session token': 'sessionToken',
    management: 'managementToken',
  }
  for (const { method, path, caller } of routes) {
    const described = document.paths[path.replace(/:(\w+)/g, '{$1}')]![method.toLowerCase()]!
    const [first] = described.security.flatMap(Object.keys)
    expect([method, path, first]).toEqual([method, path, schemes[caller]])
  }
})

test('the manual has every management route, with the scope that it needs', () => {
  const words: Record<string, string> = { any: 'any token', operator: 'the operator' }
  const described = description.managing.map(
    ({ method, path, operation: { summary, 'x-scope': scope } }) =>
      `| ${method} \`${path}\` | ${words[scope] ?? `\`${scope}\``} | ${summary} |`,
  )
  const manual = readFileSync(join(import.meta.dir, '../../src/manual/api.md'), 'utf8')
  const written = manual.split('\n').filter(line => /^\| \w+ `\/manage\//.test(line))
  expect(written).toEqual(described)
})

describe('schemas', () => {
  const parts = [...schemasIn(document)]

  test('are plain JSON Schema 2020-12, without keywords of the library or of draft-04', () => {
    const known = new Set(['mustBe', 'default', 'nullable', 'patternProperties', 'definitions'])
    const strange = parts.flatMap(([path, schema]) =>
      Object.keys(schema)
        .filter(keyword => known.has(keyword) && !/\/(properties|headers)$/.test(path))
        .map(keyword => `${path}/${keyword}`),
    )
    expect(strange).toEqual([])
  })

  test('have no pattern with lookaround, which not every reader supports', () => {
    const patterns = parts.flatMap(([, { pattern }]) =>
      typeof pattern === 'string' ? [pattern] : [],
    )
    expect(patterns.filter(pattern => /\(\?<?[=!]/.test(pattern))).toEqual([])
    for (const pattern of patterns) expect(() => new RegExp(pattern, 'u')).not.toThrow()
  })

  test('describe every field that callers send', () => {
    const bodies = description.all.flatMap(({ operation }) => {
      const schema = operation.requestBody?.content['application/json']?.schema
      return schema ? [description.resolved(schema)] : []
    })
    const bare: string[] = []
    const walk = (schema: Record<string, unknown>, path: string) => {
      const real = description.resolved(schema)
      for (const [name, field] of Object.entries((real.properties ?? {}) as object)) {
        const plain = description.resolved(field)
        const isSaid =
          plain.description || plain.items || plain.properties || plain.minimum !== undefined
        if (!isSaid) bare.push(`${path}/${name}`)
        walk(field, `${path}/${name}`)
      }
      if (real.items) walk(real.items as Record<string, unknown>, `${path}/0`)
    }
    for (const body of bodies) walk(body, '')
    expect(bare).toEqual([])
  })
})

describe('examples', () => {
  const media = [...schemasIn(document)].filter(
    ([path, value]) => /\/content\/[^/]+\/[^/]+$/.test(path) && 'example' in value,
  ) as [string, { schema: Record<string, unknown>; example: unknown }][]

  test.each(media)('%s fits its schema', (_, { schema, example }) => {
    expect(description.fits(schema, example)).toBe(true)
  })

  test('every field’s own example fits it', () => {
    const wrong = [...schemasIn(document)].flatMap(([path, schema]) => {
      const examples = Array.isArray(schema.examples) ? schema.examples : []
      return examples.filter(example => !description.fits(schema, example)).map(() => path)
    })
    expect(wrong).toEqual([])
  })
})

describe('analytics', () => {
  const operation = document.paths['/flows/{flow_id}/analytics']!.get!
  const { content } = operation.responses[200] as { content: Record<string, { schema: object }> }
  const schema = content['application/json']!.schema as Record<string, unknown>

  /** Every field of an answer that has no fields of its own, by its place. */
  function* leavesOf(part: Record<string, unknown>, path: string[]): Iterable<[string[], unknown]> {
    const real = description.resolved(part)
    const branches = Array.isArray(real.anyOf) ? (real.anyOf as Record<string, unknown>[]) : [real]
    const whole = branches.find(({ properties }) => properties)
    if (real.items) yield* leavesOf(real.items as Record<string, unknown>, path)
    else if (!whole) yield [path, real]
    else {
      for (const [name, field] of Object.entries(whole.properties as Record<string, never>)) {
        yield* leavesOf(field, [...path, name])
      }
    }
  }

  const leaves = [...leavesOf(schema, [])] as [string[], { type: unknown; description?: string }][]

  test('every number has its definition in the answer, by its name or by its place', () => {
    const known = definitionsOf({
      groupBy: 'plan',
      filters: [],
      hasDistribution: true,
      interval: 'day',
      hasPaths: true,
      hasAnswers: true,
      leftAt: 1 as never,
    })
    const isNumber = (type: unknown) => [type].flat().some(t => t === 'integer' || t === 'number')
    const undefinedOnes = leaves
      .filter(([, { type }]) => isNumber(type))
      .map(([path]) => path)
      .filter(path => path.join('.') !== 'versions.version')
      .filter(path => {
        const [part = '', name = ''] = [path.at(-2), path.at(-1)]
        const places = [name, `${part}.${name}`, `${path[0]}.${name}`]
        return !places.some(place => Object.hasOwn(known, place))
      })
    expect(undefinedOnes).toEqual([])
  })
})

test('explains every column of the export', () => {
  const { description } = document.paths['/flows/{flow_id}/analytics/export.csv']!
    .get as unknown as { description: string }
  for (const column of Object.values(csvColumns).flat()) {
    expect(description).toContain(`\`${column}\``)
  }
})

describe('is served', () => {
  test('to anyone, cacheable for a while, in any encoding that they accept', async () => {
    expect(response.status).toBe(200)
    expect(response.headers.get('cache-control')).toBe('public, max-age=300')
    const encoded = await tenant.ask('GET /openapi.json', {
      credential: 'nonsense',
      headers: { 'accept-encoding': 'gzip' },
    })
    expect(encoded.status).toBe(200)
    expect(encoded.headers.get('content-encoding')).toBe('gzip')
    expect(Buffer.from(Bun.gunzipSync(await encoded.arrayBuffer())).toString()).toBe(text)
  })

  test.each([
    '/openapi.json',
    '/docs',
    '/docs/page.js',
    '/docs/viewer.css',
    '/docs/viewer-licence.txt',
  ])('%s without the limits of an organisation, and only to GET and HEAD', async path => {
    for (const method of ['GET', 'HEAD']) {
      const { status, headers } = await tenant.ask(`${method} ${path}`)
      expect(status).toBe(200)
      expect(headers.get('x-ratelimit-limit')).toBe('300')
      expect(headers.get('x-ratelimit-remaining')).toBe('300')
      expect(headers.get('x-request-id')).not.toBeNull()
    }
    const refused = await tenant.ask(`POST ${path}`)
    expect(refused.status).toBe(405)
    expect(refused.headers.get('allow')).toBe('GET, HEAD, OPTIONS')
  })

  test('a file that the page does not have is 404', async () => {
    // The page itself is only at /docs, where its policy is sent with it.
    const names = ['nothing.js', 'constructor', '..%2f..%2fetc%2fpasswd', 'index.html']
    for (const name of names) {
      const { status, body } = await tenant.answer(`GET /docs/${name}`, anonymously)
      expect([status, body.code]).toEqual([404, 'not_found'])
    }
  })
})

test('its introduction has every refusal that a caller can meet', () => {
  const { description: introduction } = document.info as { description: string }
  for (const [code, { status, when }] of Object.entries<ErrorEntry>(errors)) {
    if (when === undefined) continue
    const name = status === 401 || status === 429 ? '–' : `\`${code}\``
    expect(introduction).toContain(`| ${status} | ${name} | ${when} |`)
  }
})
