import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { until } from '../../scripts/support/until.ts'
import { apiOf, builtBinary, Workplace, withTour } from '../support/binary.ts'
import { Datagrams } from '../support/datagrams.ts'

let place: Workplace

beforeEach(async () => {
  await builtBinary()
  place = new Workplace()
})
afterEach(() => place.close())

describe.skipIf(process.platform !== 'linux')('the service manager is told', () => {
  const sockets = [
    ['on a path', () => join(place.folder, 'notify')],
    ['on an abstract socket', () => `@cairn-test-${process.pid}`],
  ] as const
  test.each(sockets)('when it serves, reloads and stops: %s', async (_name, nameOf) => {
    const socket = new Datagrams(nameOf())
    const server = await place.serve([], { NOTIFY_SOCKET: socket.name })
    // Left out, because only a start that takes longer than a second says it, which depends on the machine.
    const told = () => socket.read().filter(text => !text.includes('EXTEND_TIMEOUT_USEC'))
    await server.until(() => told().includes('READY=1'))
    expect(told()).toEqual([
      'STATUS=Preparing the database',
      `STATUS=Serving ${server.url}`,
      'READY=1',
    ])
    server.child.kill('SIGHUP')
    await server.until(() => told().length >= 5)
    const [reloading = '', ready] = told().slice(3)
    expect(reloading).toMatch(/^RELOADING=1\nMONOTONIC_USEC=\d+$/)
    // The same clock as /proc/uptime, except for the time that the machine was suspended.
    const seconds = Number(reloading.split('=').at(-1)) / 1e6
    const uptime = Number.parseFloat(await Bun.file('/proc/uptime').text())
    expect(seconds).toBeWithin(1, uptime + 1)
    expect(ready).toBe('READY=1')
    expect(await server.end()).toBe(0)
    expect(socket.read().at(-1)).toBe('STOPPING=1\nSTATUS=Stopping')
    socket.close()
  })

  test('that it is alive, at least three times within the timeout of the watchdog', async () => {
    const socket = new Datagrams(join(place.folder, 'notify'))
    const env = { NOTIFY_SOCKET: socket.name, WATCHDOG_USEC: '600000' }
    const server = await place.serve([], env)
    const beats = () => socket.read().filter(message => message === 'WATCHDOG=1').length
    await server.until(() => beats() >= 1)
    // A busy machine delays some of them, but not all.
    const gaps: number[] = []
    for (let last = performance.now(); gaps.length < 8; last = performance.now()) {
      const before = beats()
      await server.until(() => beats() > before)
      gaps.push(performance.now() - last)
    }
    expect(Math.min(...gaps)).toBeLessThan(250)
    socket.close()
  })

  const watchdog = { WATCHDOG_USEC: '100000' }
  const beatsAt = (socket: Datagrams) =>
    socket.read().filter(message => message === 'WATCHDOG=1').length

  /** Resolves after another server has reported three times that it is alive. */
  async function threeBeatsOfAnother(): Promise<void> {
    await using other = new Workplace()
    const heard = new Datagrams(join(other.folder, 'notify'))
    await other.serve([], { NOTIFY_SOCKET: heard.name, ...watchdog })
    await until(() => beatsAt(heard) >= 3)
    heard.close()
  }

  test('no sign of life if the watchdog means another process', async () => {
    const socket = new Datagrams(join(place.folder, 'notify'))
    const env = { NOTIFY_SOCKET: socket.name, ...watchdog, WATCHDOG_PID: '1' }
    const server = await place.serve([], env)
    await server.until(() => socket.read().includes('READY=1'))
    await threeBeatsOfAnother()
    expect(beatsAt(socket)).toBe(0)
    socket.close()
  })

  test('no sign of life once the main thread hangs', async () => {
    const socket = new Datagrams(join(place.folder, 'notify'))
    const { snippetKey } = await withTour(place)
    const env = { NOTIFY_SOCKET: socket.name, ...watchdog, CAIRN_FAILPOINTS: 'http_request=hang' }
    const server = await place.serve([], env)
    await server.until(() => beatsAt(socket) >= 3)
    const events = [{ kind: 'custom', name: 'x', userId: 'u' }]
    const hanging = apiOf(server, snippetKey)('POST', '/events', { events }).catch(() => null)
    const health = () =>
      fetch(`${server.managementUrl}/healthz`, { signal: AbortSignal.timeout(2_000) })
    await server.until(() =>
      health().then(
        () => false,
        () => true,
      ),
    )
    const before = beatsAt(socket)
    await threeBeatsOfAnother()
    expect(beatsAt(socket)).toBe(before)
    socket.close()
    await server.end('SIGKILL')
    expect(await hanging).toBeNull()
  })

  test('nothing if NOTIFY_SOCKET is not a socket: the server warns and serves', async () => {
    const server = await place.serve([], { NOTIFY_SOCKET: 'nonsense' })
    await server.until(() =>
      server.stdout.includes('the status cannot be sent to the service manager'),
    )
    expect((await fetch(`${server.managementUrl}/readyz`)).status).toBe(200)
  })

  test('without waiting if nobody reads its socket any more', async () => {
    const socket = new Datagrams(join(place.folder, 'notify'))
    const server = await place.serve([], { NOTIFY_SOCKET: socket.name })
    socket.close()
    server.child.kill('SIGHUP')
    await server.until(() => server.stdout.includes('no setting changed'))
    expect(await server.end()).toBe(0)
  })
})
