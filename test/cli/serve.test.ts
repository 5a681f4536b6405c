import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { acquireLock } from '../../src/runtime/lock.ts'
import { CommandLine } from '../support/command-line.ts'

let cairn: CommandLine
beforeEach(() => {
  cairn = new CommandLine()
})
afterEach(() => cairn.close())

const serving = () => cairn.serve(['--host', '127.0.0.1'])

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

  await cairn.json(['org', 'set', 'limits.flows', '1'])
  expect(await flowsOf(url, snippetKey)).toBe(429)
})

describe('healthcheck', () => {
  const readyz = (managementUrl: string) => `${managementUrl}/readyz`

  test('asks the server of the data directory, whatever its port and whoever else serves', async () => {
    writeFileSync(cairn.path('b.env'), 'CAIRN_DATA=b\nCAIRN_MANAGEMENT_PORT=1\n')
    const here = await cairn.serve()
    const [a, b] = await Promise.all(['a', 'b'].map(data => cairn.serve(['--data', data])))
    // A setting that the server's own flag has overridden.
    const env = { CAIRN_MANAGEMENT_PORT: '1' }
    const found = async (...args: string[]) => {
      const { ready, url, status, answer } = await cairn.json(['healthcheck', ...args], env)
      expect([ready, status, answer]).toEqual([true, 200, 'ready'])
      return url
    }
    expect(await found()).toBe(readyz(here.managementUrl))
    expect(await found('--data', 'a')).toBe(readyz(a!.managementUrl))
    expect(await found('--config', 'b.env')).toBe(readyz(b!.managementUrl))
    const { port } = new URL(b!.managementUrl)
    expect(await found('--data', 'a', '--management-port', port)).toBe(readyz(b!.managementUrl))
    const { stdout, status } = await cairn.run(['healthcheck', '--data', 'a'], env)
    expect([stdout, status]).toEqual([
      `ready: ${readyz(a!.managementUrl)} returned 200: ready\n`,
      0,
    ])
  })

  test('takes no other server for one that was killed, or for a command', async () => {
    const { managementUrl } = await cairn.serve(['--data', 'other'])
    const env = { CAIRN_MANAGEMENT_PORT: new URL(managementUrl).port }
    const found = async () => {
      const { status, stderr } = await cairn.run(['healthcheck'], env)
      return [status, stderr]
    }
    const absent = [
      1,
      'cairn: not ready: no server is running on ./cairn-data: set --data or --management-port\n',
    ]
    const { child } = await cairn.serve()
    child.kill('SIGKILL')
    await child.exited
    expect(await found()).toEqual(absent)
    const lock = acquireLock(cairn.dataDir, {
      ...{ pid: process.pid, host: hostname(), startedAt: new Date().toISOString(), version: '' },
      ...{ port: 0, managementHost: '', managementPort: 0 },
    })
    expect(await found()).toEqual(absent)
    lock.release()
    const asJson = await cairn.run(['healthcheck', '--json'], env)
    const answer = 'no server is running on ./cairn-data'
    expect(JSON.parse(asJson.stdout)).toEqual({ ready: false, url: null, status: null, answer })
    expect(asJson.status).toBe(1)
  })

  test('asks on the port of the settings where there is no data directory', async () => {
    const { managementUrl } = await cairn.serve(['--data', 'elsewhere'])
    const env = { CAIRN_MANAGEMENT_PORT: new URL(managementUrl).port }
    expect(await cairn.json(['healthcheck'], env)).toMatchObject({ url: readyz(managementUrl) })
  })
})
