import type { Tool } from './tools.ts'

/** Sends a request to the API of this server, through all of its checks. */
export type Send = (request: Request) => Promise<Response>

/** What a tool returns to the assistant. */
export interface ToolResult {
  /** For the protocol, whose results may have further fields. */
  [field: string]: unknown
  content: { type: 'text'; text: string }[]
  isError?: true
}

const failed = (text: string): ToolResult => ({ content: [{ type: 'text', text }], isError: true })

/** An ETag as the API makes it: never `*` or a list, which would match what was not read. */
const etagForm = /^"[^"*,\s]{1,100}"$/

const badEtag =
  'The etag must be exactly the one that get_flow returned for this flow, quotes included.'

/** Sent with each request; everything else that the caller sent stays behind, cookies above all. */
const credentialHeaders = ['authorization', 'cairn-operator', 'cairn-organisation']

/** What to do next, by code of the error. */
const advices: Readonly<Record<string, string>> = {
  forbidden: 'Ask an owner for a token with this scope: dashboard, Settings, Management tokens.',
  precondition_failed:
    'The flow has changed since you read it. Call get_flow again, apply your change to what it returns, and send its etag.',
  precondition_required: 'Call get_flow and send its etag.',
  flow_not_found: 'Call list_flows for the keys that exist.',
  validation_failed: 'Correct these places and call the tool again.',
  overloaded: 'Wait a few seconds and call the tool again.',
}

interface Rejection {
  error?: unknown
  code?: string
  details?: { path: string; message: string }[]
  retryAfter?: number
}

function adviceFor({ code, retryAfter }: Rejection, status: number): string {
  if (status === 401) return 'The token is wrong, expired or revoked. Ask an owner for another one.'
  if (status === 429) return `Wait ${retryAfter ?? 60} seconds and call the tool again.`
  return advices[code ?? ''] ?? ''
}

function errorResult(rejection: Rejection, status: number): ToolResult {
  const { error, code, details = [] } = rejection
  const head = `${error ?? 'The request failed'}${code ? ` (${code})` : ''}`
  const places = details.map(({ path, message }) => `- ${path || '/'}: ${message}`)
  return failed([head, ...places, adviceFor(rejection, status)].filter(Boolean).join('\n'))
}

/** The request that does a tool's work. @returns a sentence if the arguments make none */
function requestOf(
  { route, pathNames, queryNames, wholeBody, etag, inputSchema }: Tool,
  given: Readonly<Record<string, unknown>>,
  headers: Headers,
): Request | string {
  const known = Object.keys(inputSchema.properties)
  const unknown = Object.keys(given).filter(name => !known.includes(name))
  if (unknown.length > 0) {
    return `Unknown argument: ${unknown.join(', ').slice(0, 200)}. This tool takes ${known.join(', ') || 'no arguments'}.`
  }
  const missing = inputSchema.required.filter(name => given[name] === undefined)
  if (missing.length > 0) return `Missing argument: ${missing.join(', ')}.`
  const { etag: sentEtag, ...rest } = etag ? given : { ...given, etag: undefined }
  if (etag && sentEtag !== undefined && !etagForm.test(String(sentEtag))) return badEtag

  const flow = wholeBody && (rest[wholeBody.name] as Record<string, unknown>)
  let path = route.path
  for (const name of pathNames) {
    const value = String(rest[name])
    if (!/^[\w-]{1,64}$/.test(value)) return `${name} must be a key such as welcome-tour.`
    path = path.replace(`:${name}`, value)
  }
  const query = new URLSearchParams()
  for (const name of queryNames) {
    const values = rest[name] === undefined ? [] : [rest[name]].flat()
    for (const value of values) query.append(name, String(value))
  }
  const inUrl = [...pathNames, ...queryNames]
  const fields = Object.entries(rest).filter(
    ([name, value]) => !inUrl.includes(name) && value !== undefined,
  )
  const sent = new Headers()
  for (const name of credentialHeaders) {
    const value = headers.get(name)
    if (value !== null) sent.set(name, value)
  }
  if (route.isConditional) {
    if (sentEtag === undefined) sent.set('if-none-match', '*')
    else sent.set('if-match', String(sentEtag))
  }
  const hasBody = route.method !== 'GET' && route.body !== undefined
  if (hasBody) sent.set('content-type', 'application/json')
  const tail = query.size > 0 ? `?${query}` : ''
  return new Request(`http://cairn/api/v1${path}${tail}`, {
    method: route.method,
    headers: sent,
    ...(hasBody && { body: JSON.stringify(flow ?? Object.fromEntries(fields)) }),
  })
}

/**
 * Calls a tool. Whatever goes wrong is a result that says how to go on, because that is what an assistant
 * reads.
 *
 * @param headers of the caller's request, for its credential
 */
export async function callTool(
  tool: Tool,
  given: Readonly<Record<string, unknown>>,
  headers: Headers,
  send: Send,
): Promise<ToolResult> {
  const request = requestOf(tool, given, headers)
  if (typeof request === 'string') return failed(request)
  const response = await send(request)
  if (response.status === 204) return { content: [{ type: 'text', text: 'Done.' }] }
  const body: unknown = await response.json()
  if (!response.ok) return errorResult(body as Rejection, response.status)
  const words = tool.inWords?.(body as never)
  const texts = [...(words ? [words] : []), JSON.stringify(body)]
  return { content: texts.map(text => ({ type: 'text', text })) }
}
