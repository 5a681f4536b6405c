import { describe, expect, test } from 'bun:test'
import { freePort } from '../../scripts/support/ports.ts'
import { claimPort, claimPorts, PortTaken, portFault } from '../../src/runtime/ports.ts'

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
  ])('because its address is another machine: with %s, change %s', (port, address) => {
    // From a range that is reserved for documentation (RFC 5737).
    expect(faultOf('203.0.113.9', 18_080, port)).toBe(
      `The address 203.0.113.9 is not one of this machine's: choose another address by ${address}`,
    )
  })

  test('because its address is no address: change the address', () => {
    expect(faultOf('bad host', 18_080, management)).toMatch(
      /^"bad host" is no address .*: choose another address by CAIRN_MANAGEMENT_HOST or --management-host$/,
    )
  })
})

describe('a missing permission', () => {
  const settings = { hostname: '127.0.0.1', portSetting: '--port', addressSetting: '--host' }

  test('is reported as one for ports below 1024 if the port is one of those', () => {
    expect(portFault('EACCES', { ...settings, port: 80 })).toStartWith(
      'Port 80 is below 1024, which this user may not listen on: choose a higher one by --port',
    )
  })

  test('is reported as such for any other port', () => {
    expect(portFault('EACCES', { ...settings, port: 8080 })).toBe(
      'This user may not listen on 127.0.0.1:8080 (EACCES): choose another port by --port, or choose another address by --host',
    )
  })
})

test('ENOENT blames the address, and an unforeseen error names both settings', () => {
  const told = { hostname: 'x', port: 8080, portSetting: '--port', addressSetting: '--host' }
  expect(portFault('ENOENT', told)).toEndWith('choose another address by --host')
  expect(portFault('EWEIRD', told)).toBe(
    'Cannot listen on x:8080 (EWEIRD): choose another port by --port, or choose another address by --host',
  )
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
