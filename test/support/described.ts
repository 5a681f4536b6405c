import { expect } from 'bun:test'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import type { JsonSchema } from '../../src/core/flow/schema.ts'

/** The API's description as callers get it, and checks of answers against it. */

export interface Operation {
  operationId: string
  summary: string
  tags: string[]
  parameters: {
    name: string
    in: string
    required: boolean
    schema: JsonSchema
  }[]
  requestBody?: {
    description: string
    content: Record<string, { schema: JsonSchema }>
  }
  responses: Record<string, Described | { $ref: string }>
  security: Record<string, never[]>[]
  /** Of management routes: a scope, `any` or `operator`. */
  'x-scope': string
}

interface Described {
  headers: Record<string, { $ref: string }>
  content?: Record<string, { schema: JsonSchema; example?: unknown }>
}

export interface Document {
  paths: Record<string, Record<string, Operation>>
  components: {
    schemas: Record<string, JsonSchema>
    responses: Record<string, Described>
    headers: Record<string, { required?: boolean; schema: JsonSchema }>
  }
}

/** Headers that say nothing about the answer, or belong to the transport. */
const unsaid =
  /^(content-(type|length)|x-content-type-options|access-control-.*|date|connection|transfer-encoding)$/

const isObject = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * The same schema, closed to fields that it does not name. The description leaves answers open so that
 * they can grow, but a test must notice a field that is returned and not described.
 */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed)
  if (!isObject(schema)) return schema
  const parts = Object.fromEntries(Object.entries(schema).map(([key, part]) => [key, closed(part)]))
  const isOpen = schema.type === 'object' && isObject(schema.properties)
  return isOpen ? { additionalProperties: false, ...parts } : parts
}

const escaped = (part: string) => part.replaceAll('~', '~0').replaceAll('/', '~1')

export class Description {
  private readonly open = new Ajv2020({ strict: false, allErrors: true })
  private readonly shut = new Ajv2020({ strict: false, allErrors: true })
  private readonly shapes = new WeakMap<JsonSchema, ValidateFunction>()
  private readonly compiled = new Map<string, ValidateFunction>()

  constructor(readonly document: Document) {
    formats.default(this.open)
    formats.default(this.shut)
    this.open.addSchema(document, 'open')
    this.shut.addSchema(closed(document) as JsonSchema, 'shut')
  }

  /** Every operation with its method and path. */
  get all(): { method: string; path: string; operation: Operation }[] {
    return Object.entries(this.document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        method: method.toUpperCase(),
        path,
        operation,
      })),
    )
  }

  /** The operations of pages, back ends and analysts. */
  get operations() {
    return this.all.filter(({ path }) => !path.startsWith('/manage/'))
  }

  /** The operations of those who manage an organisation. */
  get managing() {
    return this.all.filter(({ path }) => path.startsWith('/manage/'))
  }

  /** Whether a value fits a schema of the document, as callers read it. */
  fits(schema: JsonSchema, value: unknown): boolean {
    const known = this.shapes.get(schema) ?? this.open.compile(absolute(schema))
    this.shapes.set(schema, known)
    return known(value)
  }

  /** What a schema refers to. */
  resolved(schema: JsonSchema): JsonSchema {
    const name = /^#\/components\/schemas\/(.+)$/.exec(String(schema.$ref))?.[1]
    return name ? (this.document.components.schemas[name] as JsonSchema) : schema
  }

  /** Where a value violates the closed schema at a pointer into the document; empty if it fits. */
  misses(pointer: string[], value: unknown): string[] {
    const ref = `shut#/${pointer.map(escaped).join('/')}`
    const check = this.compiled.get(ref) ?? this.shut.compile({ $ref: ref })
    this.compiled.set(ref, check)
    if (check(value)) return []
    return (check.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
    )
  }

  /** Checks an answer against the description: status, headers, type and body. */
  async check(method: string, path: string, response: Response): Promise<void> {
    const { status } = response
    const verb = method === 'HEAD' ? 'get' : method.toLowerCase()
    const operation = this.document.paths[path]?.[verb]
    if (!operation) throw new Error(`${method} ${path} is not described`)
    const what = `${method} ${path} ${status}`
    const entry = operation.responses[status]
    if (!entry) throw new Error(`${what} is not described: ${await response.text()}`)
    const pointer =
      '$ref' in entry
        ? entry.$ref.slice(2).split('/')
        : ['paths', path, verb, 'responses', String(status)]
    const described = '$ref' in entry ? this.document.components.responses[pointer.at(-1)!]! : entry
    this.checkHeaders(what, described, response.headers)
    const text = await response.text()
    const [type] = Object.keys(described.content ?? {})
    // Without a socket, nobody removes the body of an answer to HEAD.
    if (method === 'HEAD') return
    if (!type) return expect([what, text]).toEqual([what, ''])
    const sent = response.headers.get('content-type')?.split(';')[0]
    if (type === '*/*') return
    expect([what, sent]).toEqual([what, type])
    const body = type === 'application/json' ? JSON.parse(text) : text
    const problems = this.misses([...pointer, 'content', type, 'schema'], body)
    expect([what, problems, problems.length > 0 && body]).toEqual([what, [], false])
  }

  private checkHeaders(what: string, { headers: described }: Described, sent: Headers): void {
    const names = new Map(Object.keys(described).map(name => [name.toLowerCase(), name]))
    const strangers = [...sent.keys()].filter(name => !names.has(name) && !unsaid.test(name))
    expect([what, strangers]).toEqual([what, []])
    for (const name of names.values()) {
      const { required, schema } = this.document.components.headers[name]!
      const value = sent.get(name)
      if (value === null) {
        expect([what, name, required ?? false]).toEqual([what, name, false])
        continue
      }
      const typed = schema.type === 'integer' ? Number(value) : value
      expect([what, name, value, this.open.validate(schema, typed)]).toEqual([
        what,
        name,
        value,
        true,
      ])
    }
  }
}

/** A schema whose references lead into the document wherever it is compiled. */
function absolute(schema: JsonSchema): JsonSchema {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"open#/components/'))
}
