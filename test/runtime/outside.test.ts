import { afterAll, expect, test } from 'bun:test'
import { outsideOf, type Resolve } from '../../src/runtime/outside.ts'

/** A request that leaves the machine goes to the very address that was judged, and leads to no other. */

let requested = 0
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch(request) {
    requested++
    const { pathname } = new URL(request.url)
    if (pathname === '/redirect') return Response.redirect('/', 302)
    if (pathname === '/large') return new Response('x'.repeat(200_000))
    return new Response(request.headers.get('host'), { status: 200 })
  },
})
afterAll(() => server.stop(true))

const settings = { publicUrl: null, smtpUrl: null, mailFrom: null, data: '' }
const strict = (resolve: Resolve) => outsideOf({ ...settings, webhooksPrivate: 'off' }, { resolve })
const free = (resolve: Resolve = async () => ['127.0.0.1']) =>
  outsideOf({ ...settings, webhooksPrivate: 'on' }, { resolve })

test('a name is resolved once, and the connection goes to the result', async () => {
  const answers = [['127.0.0.1'], ['192.0.2.1']]
  let times = 0
  const resolve = async () => answers[times++] ?? []
  const url = `http://hooks.example.com:${server.port}/`
  expect(await free(resolve).post(url, {}, '{}')).toEqual({ status: 200 })
  expect(times).toBe(1)
})

test.each([
  [['10.0.0.1']],
  [['127.0.0.1']],
  [['8.8.8.8', '127.0.0.1']],
  [['::1']],
  [['fd00::1']],
  [['::ffff:169.254.169.254']],
])('nothing is sent to a name that means %j', async addresses => {
  const before = requested
  const sent = await strict(async () => addresses).post(
    `https://hooks.example.com:${server.port}/`,
    {},
    '{}',
  )
  expect(sent).toEqual({ fault: "The receiver's name resolves to an address in a private network" })
  expect(requested).toBe(before)
})

test('an address that was stored while it was allowed is refused once it is not', async () => {
  const sent = await strict(async () => ['127.0.0.1']).post(server.url.href, {}, '{}')
  expect(sent).toEqual({ fault: expect.stringContaining('Must begin with https://') })
})

test('a redirect is not followed, and a large answer not read', async () => {
  const before = requested
  const url = (path: string) => `http://hooks.example.com:${server.port}${path}`
  expect(await free().post(url('/redirect'), {}, '{}')).toEqual({ status: 302 })
  expect(requested).toBe(before + 1)
  expect(await free().post(url('/large'), {}, '{}')).toMatchObject({
    fault: 'The answer is too large',
  })
})

test('another address of the name is tried if one cannot be reached', async () => {
  const closed = Bun.serve({ hostname: '127.0.0.2', port: 0, fetch: () => new Response() })
  const { port } = closed
  await closed.stop(true)
  const url = `http://hooks.example.com:${port}/`
  expect(await free(async () => ['127.0.0.2']).post(url, {}, '{}')).toMatchObject({
    fault: 'The connection was refused',
  })
  const here = `http://hooks.example.com:${server.port}/`
  expect(await free(async () => ['127.0.0.3', '127.0.0.1']).post(here, {}, '{}')).toEqual({
    status: 200,
  })
})

test('a name that cannot be resolved is reported', async () => {
  const sent = await strict(async () => {
    throw new Error('ENOTFOUND')
  }).post('https://hooks.example.com/', {}, '{}')
  expect(sent).toEqual({ fault: "The receiver's name cannot be resolved" })
})

test('a proxy from the environment is given the address, and never the name', async () => {
  const lines: string[] = []
  const proxy = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      data(socket, data) {
        lines.push(String(data).split('\r\n')[0]!)
        socket.end('HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n')
      },
    },
  })
  const program = `
    const { outsideOf } = await import(${JSON.stringify(new URL('../../src/runtime/outside.ts', import.meta.url).pathname)})
    const settings = { webhooksPrivate: 'on', publicUrl: null, smtpUrl: null, mailFrom: null }
    const outside = outsideOf(settings, { resolve: async () => ['192.0.2.7'] })
    await outside.post('http://hooks.example.com/', {}, '{}')
    await outside.post('https://hooks.example.com/', {}, '{}')`
  const child = Bun.spawn([process.execPath, '-e', program], {
    env: {
      http_proxy: `http://127.0.0.1:${proxy.port}`,
      https_proxy: `http://127.0.0.1:${proxy.port}`,
    },
    stdout: 'inherit',
  })
  await child.exited
  expect(lines).toEqual([
    'POST http://192.0.2.7/ HTTP/1.1',
    expect.stringMatching(/^CONNECT 192\.0\.2\.7(:443)? HTTP\/1\.1$/),
  ])
  proxy.stop(true)
})
