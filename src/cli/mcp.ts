import { Server } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { version } from '../core/version.ts'
import type { Command } from './command.ts'
import { CommandFailure } from './failure.ts'
import { addTarget, type Manager, managed, placeOf, requireServer } from './manage.ts'
import { tell } from './output.ts'

export function addMcp(cairn: Command): void {
  addTarget(
    cairn
      .command('mcp')
      .description(
        'let an assistant write flows and read results: the Model Context Protocol over stdin and stdout',
      ),
  )
    .examples('cairn mcp', 'CAIRN_TOKEN=crn_… cairn mcp --url https://cairn.example.com')
    .notes(`An assistant starts this command by itself: "cairn help assistant" has the lines
for its configuration. It ends when the assistant closes stdin.`)
    .action(async (options: { url?: string }, command: Command) => {
      if (options.url === undefined) requireServer(placeOf(command))
      await managed(command, manager => served(manager))
    })
}

/** The requests that the server answers; the library answers all others. */
const forwarded = ['tools/list', 'tools/call', 'resources/list', 'resources/read'] as const

const served = (manager: Manager) =>
  new Promise<void>(resolve => {
    tell(`Serving ${manager.organisation} to an assistant. Close stdin to stop.`)
    serveStdio(
      () => {
        const server = new Server(
          { name: 'cairn', title: 'Cairn', version },
          { capabilities: { tools: {}, resources: {} } },
        )
        for (const method of forwarded) {
          server.setRequestHandler(method, ({ params }) => resultOf(manager, method, params))
        }
        return server
      },
      { onerror: error => tell(`mcp: ${error.message}`) },
    )
    process.stdin.once('close', resolve)
  })

/** Asks the server, as one complete request of the protocol. */
async function resultOf<T>({ send }: Manager, method: string, params: unknown): Promise<T> {
  const response = await send('/mcp', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: params ?? {} }),
  })
  const text = await response.text()
  // A stream has one message, as its last line of data.
  const data =
    text
      .match(/^data: (.*)$/gm)
      ?.at(-1)
      ?.slice('data: '.length) ?? text
  const { result, error } = JSON.parse(data) as { result?: T; error?: { message: string } | string }
  if (result !== undefined) return result
  const message = typeof error === 'object' ? error.message : error
  throw new CommandFailure(message ?? `the server answered ${response.status}`)
}
