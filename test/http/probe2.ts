import { Elysia } from 'elysia'
const app = new Elysia({prefix: '/api/v1', normalize: false}).onError((c: any) => { console.log('err', c.code, c.call); return new Response('e', {status: 404}) }).onRequest((c: any) => { c.call = {n: 1} })
app.post('/a/:id', async (c: any) => { return Response.json({ p: c.params, b: await c.request.text(), call: c.call }) }, { parse: 'none' })
app.get('/t', () => { throw new Error('x') })
app.get('/async', async () => { await 1; throw new Error('x') })
app.listen(0)
const base = `http://localhost:${app.server!.port}/api/v1`
for (const f of [(u: string, i?: any) => app.handle(new Request('http://h/api/v1' + u, i)), (u: string, i?: any) => fetch(base + u, i)]) {
  console.log(await (await f('/a/7', {method: 'POST', body: '{"x":1}', headers: {'content-type': 'application/json'}})).text())
  console.log(await (await f('/a/7', {method: 'POST', body: '{"x":1}', headers: {'content-type': 'application/weird'}})).text())
  await f('/t'); await f('/async'); await f('/nope'); await f('/a/7', {method: 'PUT'})
}
const { connect } = await import('node:net')
const raw = (text: string) => new Promise<string>(res => { let out = ''; const s = connect(app.server!.port!, '127.0.0.1', () => s.write(text)); s.on('data', d => { out += d }); s.on('close', () => res(out)); setTimeout(() => s.destroy(), 300) })
console.log(await raw('GET /api/v1/t HTTP/1.1\r\n\r\n'))
console.log(await raw('GET /api/v1/t HTTP/1.1\r\nHost: a b\r\n\r\n'))
console.log(await raw('GET /api/v1/t HTTP/1.1\r\nHost: %%%[\r\n\r\n'))
console.log(await raw('GET http://evil.example/api/v1/t HTTP/1.1\r\nHost: x\r\n\r\n'))
console.log(await raw('OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n'))
console.log(await raw('GET /api/v1/t HTTP/1.0\r\n\r\n'))
process.exit()
