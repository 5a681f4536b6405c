import { afterEach, beforeEach, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { CommandLine } from '../support/command-line.ts'

let cairn: CommandLine
beforeEach(() => {
  cairn = new CommandLine()
})
afterEach(() => cairn.close())

async function serving() {
  const { child, url, managementUrl } = await cairn.serve(['--host', '127.0.0.1', '--threads', '2'])
  return { child, url, managementPort: new URL(managementUrl).port }
}

const flowsOf = async (url: string, key: string) => {
  const headers = { Authorization: `Bearer ${key}` }
  const response = await fetch(`${url}/api/v1/flows`, { headers })
  if (response.status !== 200) return response.status
  const { flows } = (await response.json()) as { flows: { key: string }[] }
  return flows.map(flow => flow.key)
}

test('the next request to a running server sees what a command has changed', async () => {
  const { url } = await serving()
  const { snippetKey: old } = await cairn.json(['org', 'create', 'Harbor'])
  expect(await flowsOf(url, old)).toEqual([])

  writeFileSync(cairn.path('a.yaml'), 'key: welcome\nsteps: [{ key: hello, title: Hello }]\n')
  await cairn.json(['flows', 'push', 'a.yaml'])
  expect(await flowsOf(url, old)).toEqual([])
  await cairn.json(['flows', 'publish', 'welcome'])
  expect(await flowsOf(url, old)).toEqual(['welcome'])
  await cairn.json(['flows', 'unpublish', 'welcome'])
  expect(await flowsOf(url, old)).toEqual([])

  const { snippetKey } = await cairn.json(['key', 'rotate', '--now'])
  expect([await flowsOf(url, old), await flowsOf(url, snippetKey)]).toEqual([401, []])

  await cairn.json(['org', 'limits', '--flows', '1'])
  expect(await flowsOf(url, snippetKey)).toBe(429)
})

test('a token issued on the command line is accepted by the running server', async () => {
  const { url } = await serving()
  await cairn.json(['org', 'create', 'Harbor'])
  writeFileSync(cairn.path('a.yaml'), 'key: welcome\nsteps: [{ key: hello, title: Hello }]\n')
  const [{ id }] = await cairn.json(['flows', 'push', 'a.yaml'])
  const { token } = await cairn.json(['token', 'issue'])
  const headers = { Authorization: `Bearer ${token}` }
  const response = await fetch(`${url}/api/v1/flows/${id}/analytics`, { headers })
  expect(response.status).toBe(200)
})

test('healthcheck says ready while it serves', async () => {
  const { managementPort } = await serving()
  const { stdout, status } = await cairn.run(['healthcheck', '--management-port', managementPort])
  expect(status).toBe(0)
  expect(stdout).toStartWith('ready: ')
  const url = `http://127.0.0.1:${managementPort}/readyz`
  expect(await cairn.json(['healthcheck', '--management-port', managementPort])).toEqual({
    ready: true,
    url,
    status: 200,
    answer: 'ready',
  })
})

test('a second server on the same data is refused with status 1, and told who holds it', async () => {
  const { child } = await serving()
  const again = ['serve', '--port', '0', '--management-port', '0']
  const { stderr, status } = await cairn.run(again)
  expect(status).toBe(1)
  expect(stderr).toContain(`cairn: a server runs already on ./cairn-data (process ${child.pid} on `)
})

test('a taken port is refused with status 1, and how to choose another', async () => {
  const taken = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  try {
    const args = ['serve', '--host', '127.0.0.1', '--port', String(taken.port)]
    const { stderr, status } = await cairn.run(args)
    expect(status).toBe(1)
    expect(stderr).toContain(`${taken.port}`)
    expect(stderr).toContain('--port')
  } finally {
    taken.stop(true)
  }
})

test('SIGTERM ends it with status 0', async () => {
  const { child } = await serving()
  child.kill('SIGTERM')
  expect(await child.exited).toBe(0)
})
