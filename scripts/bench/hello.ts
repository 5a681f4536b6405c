/**
 * A bare Elysia server: it returns a body from memory and three headers. It parses the JSON of a POST.
 *
 *     bun hello.ts BYTES
 */
import '../../src/production-mode.ts'
import { Elysia } from 'elysia'

const body = 'x'.repeat(Number(Bun.argv[2]))
const respond = () =>
  new Response(body, {
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store', vary: 'Origin' },
  })

const app = new Elysia()
  .get('/*', respond)
  .post('/*', ({ body: sent }) => (sent ? respond() : new Response(null, { status: 400 })))
  .listen({ port: 0, hostname: '127.0.0.1' })
console.log(`serving http://127.0.0.1:${app.server?.port}`)
