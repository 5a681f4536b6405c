import { withEscapes } from '../core/text/unseen.ts'
import type { Command } from './command.ts'
import { write } from './download.ts'
import { UsageFailure } from './failure.ts'
import { readJson } from './files.ts'
import { addTarget, managedOrOperated } from './manage.ts'

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

export function addApi(cairn: Command): void {
  addTarget(
    cairn
      .command('api')
      .description('send a request to the management API, and print the response')
      .argument('<method>', methods.join(', '))
      .argument('<path>', 'such as /flows, below /api/v1/manage')
      .option('--body <json>', 'body of the request; @FILE reads a file, "-" the standard input')
      .option('--header <header...>', 'a further header, such as "If-Match: *"')
      .option('--json', 'accepted, as by every command; the response is always JSON'),
  )
    .examples(
      'cairn api GET /previews',
      'cairn api DELETE /previews/preview_3xYzQa1b2c3d4e5f6g',
      `cairn api PATCH /settings --body '{"throttle": 2}'`,
      "cairn api POST /flows/welcome/versions/2/restore --header 'If-Match: *' --body '{}'",
      'cairn api GET /flows --url https://cairn.example.com | jq .flows[].key',
    )
    .notes(`All routes: /api/v1/docs on a server, or "cairn help api". An error response is
printed as a message on stderr, with exit status 1.`)
    .action(async (method: string, path: string, options: Options, command: Command) => {
      const { body, header = [] } = options
      const verb = method.toUpperCase()
      if (!methods.includes(verb)) {
        throw new UsageFailure(`the method must be one of ${methods.join(', ')}`)
      }
      const what = `${verb} ${pathIn(path)}`
      const request = {
        headers: Object.fromEntries(header.map(headerIn)),
        ...(body !== undefined && { body: readJson('--body', body, '{"throttle": 2}') }),
      }
      await managedOrOperated(command, async ({ download }) => {
        await write(process.stdout, printable(await download(what, request)))
      })
    })
}

interface Options {
  body?: string
  header?: string[]
}

/** The path below the management API, with or without that prefix. */
function pathIn(given: string): string {
  const path = given.replace(/^\/?(api\/v1\/manage\/)?/, '/')
  if (/^\/[!-~]*$/.test(path)) return path
  throw new UsageFailure('the path must not have spaces: write them as %20')
}

function headerIn(text: string): [name: string, value: string] {
  const [, name, value = ''] = /^([\w-]+):\s*([ -~]*)$/.exec(text) ?? []
  if (name) return [name, value]
  throw new UsageFailure(`--header must be such as "If-Match: *", not "${text.slice(0, 40)}"`)
}

/** No text may control a terminal. Only JSON means the same with escapes, so other pipes get what was sent. */
async function* printable(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let escapes = process.stdout.isTTY
  let end = ''
  for await (const chunk of chunks) {
    if (end === '') escapes ||= /^[{[]/.test(chunk)
    yield escapes ? withEscapes(chunk) : chunk
    end = chunk.at(-1) ?? end
  }
  if (end !== '' && end !== '\n') yield '\n'
}
