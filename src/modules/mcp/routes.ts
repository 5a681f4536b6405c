import { createMcpHandler, Server } from '@modelcontextprotocol/server'
import { Type } from '@sinclair/typebox'
import { AppError, unauthorized } from '../../core/errors.ts'
import { version } from '../../core/version.ts'
import { may } from '../../http/principal.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { managing, type Route, route } from '../../http/route.ts'
import { callTool, type Send } from './call.ts'
import guide from './guide.md' with { type: 'text' }
import { type Tool, toolsOf } from './tools.ts'

const guideUri = 'cairn://guide'

const instructions =
  'Cairn shows product tours, checklists, announcements and resource centres on the pages of a web application. ' +
  `Read the resource ${guideUri} (or call read_guide) before you write a flow. ` +
  'Never publish before the person you work for has seen the preview and agreed.'

const guideTool = {
  name: 'read_guide',
  title: 'Read the guide',
  description:
    'How to write a good flow, and in which order to call the other tools. Read it first.',
  inputSchema: { type: 'object' as const, properties: {} },
  annotations: { readOnlyHint: true },
}

const listed = ({ name, title, description, inputSchema, needs, isDestructive }: Tool) => ({
  ...{ name, title, description, inputSchema },
  annotations: {
    readOnlyHint: needs.endsWith(':read'),
    destructiveHint: isDestructive === true,
    openWorldHint: false,
  },
})

/** The methods of the protocol, for one request of a caller. */
function serverFor(call: RequestContext, tools: readonly Tool[], send: Send): Server {
  const server = new Server(
    { name: 'cairn', title: 'Cairn', version },
    { capabilities: { tools: {}, resources: {} }, instructions },
  )
  const mine = tools.filter(
    ({ needs }) => needs === 'any' || (needs !== 'operator' && may(call.principal, needs)),
  )
  server.setRequestHandler('tools/list', () => ({ tools: [guideTool, ...mine.map(listed)] }))
  server.setRequestHandler('tools/call', ({ params: { name, arguments: given = {} } }) => {
    if (name === guideTool.name) return { content: [{ type: 'text', text: guide }] }
    const tool = tools.find(known => known.name === name)
    if (tool) return callTool(tool, given, call.request.headers, send)
    const text = `Unknown tool: ${name.slice(0, 100)}. tools/list has the names.`
    return { content: [{ type: 'text', text }], isError: true }
  })
  server.setRequestHandler('resources/list', () => ({
    resources: [
      {
        uri: guideUri,
        name: 'guide',
        title: 'How to write a good flow',
        mimeType: 'text/markdown',
      },
    ],
  }))
  server.setRequestHandler('resources/read', ({ params: { uri } }) => {
    if (uri !== guideUri) throw new Error(`Unknown resource. There is ${guideUri}`)
    return { contents: [{ uri, mimeType: 'text/markdown', text: guide }] }
  })
  return server
}

/** A flow of the greatest size, with the protocol's envelope. */
const maxBodyBytes = 256 * 1024

/**
 * Only a token or the operator's socket may enter, so that no page can act with somebody's cookie.
 *
 * @throws AppError `unauthorized`, `origin_not_allowed`
 */
function requireProgram({ principal, origin, request }: RequestContext): void {
  if (principal?.kind === 'session') throw unauthorized('malformed_management_token')
  if (origin === null || origin === new URL(request.url).origin) return
  throw new AppError('origin_not_allowed', 'Pages of other origins may not use this address')
}

/**
 * The Model Context Protocol over streamable HTTP (revisions 2025-03-26 to 2026-07-28), without sessions:
 * every request is complete in itself.
 *
 * @param routes those of the API, of which the tools are made
 */
export function mcpRoutes(routes: readonly Route[], send: Send): Route[] {
  const tools = toolsOf(routes)
  return [
    route({
      ...managing('any'),
      method: 'POST',
      path: '/mcp',
      operation: 'callAssistantTool',
      isProductFile: true,
      summary: 'Use the management API as tools of an assistant',
      responses: { 200: { description: 'A message of the protocol.', schema: Type.Unknown() } },
      isLong: true,
      async handle(call) {
        requireProgram(call)
        const handler = createMcpHandler(() => serverFor(call, tools, send), {
          maxSubscriptions: 0,
          maxRequestBodySize: maxBodyBytes,
        })
        const response = await handler.fetch(call.request)
        const type = response.headers.get('content-type')
        return {
          status: response.status,
          body: await response.text(),
          headers: { ...(type !== null && { 'Content-Type': type }) },
        }
      },
    }),
  ]
}
