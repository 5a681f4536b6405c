import { afterAll, beforeAll, expect, test } from 'bun:test'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { builtBinary, type Server, Workplace, withTour } from '../support/binary.ts'

/** `cairn mcp`, started by the protocol's own client as an assistant starts it. */

const cairn = new Workplace()
let server: Server
let binary: string

beforeAll(async () => {
  binary = await builtBinary()
  await withTour(cairn)
  server = await cairn.serve()
})
afterAll(() => cairn.close())

async function flowsSeenBy(args: string[], env: Record<string, string> = {}) {
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(
    new StdioClientTransport({
      command: binary,
      args: ['mcp', ...args],
      cwd: cairn.folder,
      env,
      stderr: 'ignore',
    }),
  )
  const { tools } = await client.listTools()
  const result = await client.callTool({ name: 'list_flows', arguments: {} })
  await client.close()
  const [first] = result.content as { text: string }[]
  return { names: tools.map(({ name }) => name), flows: JSON.parse(first!.text).flows }
}

test('on the machine of the server, an assistant needs no token', async () => {
  const { names, flows } = await flowsSeenBy([])
  expect(names).toContain('publish_flow')
  expect(flows).toMatchObject([{ key: 'tour' }])
})

test('elsewhere, the token decides what the assistant may do', async () => {
  const { token } = await cairn.json(['token', 'create', 'Assistant', '--scope', 'flows:read'])
  const { names, flows } = await flowsSeenBy(['--url', server.url], { CAIRN_TOKEN: token })
  expect(names).not.toContain('publish_flow')
  expect(flows).toMatchObject([{ key: 'tour' }])
})

test('without a server, it says how to start one', async () => {
  const other = new Workplace()
  await other.run(['org', 'create', 'Acme'])
  const { status, stderr } = await other.run(['mcp'])
  expect([status, stderr]).toEqual([1, expect.stringContaining('cairn serve')])
  await other.close()
})
