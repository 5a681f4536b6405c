import { describe, expect, test } from 'bun:test'
import { freePort } from '../../scripts/support/ports.ts'
import { claimPort, claimPorts, PortTaken, portProblem } from '../../src/runtime/ports.ts'

const faultOf = (...args: Parameters<typeof claimPort>) => {
  try {
    claimPort(...args)
    return null
  } catch (error) {
    if (error instanceof PortTaken) return error.message
    throw error
  }
}

const management = 'CAIRN_MANAGEMENT_PORT or --management-port'

describe('a port that cannot be had', () => {
  test('because another program has it: change the port', () => {
    const taken = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
    try {
      expect(faultOf('127.0.0.1', taken.port, '--port')).toBe(
        `Port ${taken.port} on 127.0.0.1 is taken: choose another by --port`,
      )
    } finally {
      taken.stop(true)
    }
  })

  test.each([
    ['CAIRN_PORT or --port', 'CAIRN_HOST or --host'],
    ['--port', '--host'],
    [management, 'CAIRN_MANAGEMENT_HOST or --management-host'],
  ])('because its address is another machine, or none: with %s, change %s', (port, address) => {
    // From a range that is reserved for documentation (RFC 5737).
    for (const host of ['203.0.113.9', 'bad host']) {
      const fault = faultOf(host, 18_080, port)
      expect(fault).toStartWith(`Cannot listen on ${host}:18080 (E`)
      expect(fault).toEndWith(`or another address of this machine by ${address}`)
    }
  })

  test('because only the system may have it: choose a higher one', () => {
    const settings = { hostname: '127.0.0.1', portSetting: '--port', addressSetting: '--host' }
    expect(portProblem('EACCES', { ...settings, port: 80 })).toStartWith(
      'Port 80 is below 1024, which this user may not listen on: choose a higher one by --port',
    )
    expect(portProblem('EACCES', { ...settings, port: 8080 })).toContain('(EACCES)')
  })
})

test('a free port is claimed as it is, and 0 becomes a free port', async () => {
  expect(claimPort('127.0.0.1', 0, '--port')).toBeGreaterThan(0)
  const port = await freePort()
  expect(claimPort('127.0.0.1', port, '--port')).toBe(port)
})

test('the same port for API and management is refused before anything listens on it', async () => {
  const port = await freePort()
  const of = (host: string, managementHost: string) => () =>
    claimPorts({ host, port, managementHost, managementPort: port })
  expect(of('127.0.0.1', '127.0.0.1')).toThrow('choose another by CAIRN_MANAGEMENT_PORT')
  expect(of('0.0.0.0', '127.0.0.1')).toThrow('choose another by CAIRN_MANAGEMENT_PORT')
  expect(claimPort('127.0.0.1', port, '--port')).toBe(port)
  const { port: api, managementPort } = claimPorts({
    host: '127.0.0.1',
    port: 0,
    managementHost: '127.0.0.1',
    managementPort: 0,
  })
  expect(api).not.toBe(managementPort)
})
