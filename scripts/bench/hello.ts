/**
 * A bare Elysia server: it answers with a body from memory and three headers. `POST /` parses a JSON body
 * and gives the same answer.
 *
 *     bun hello.ts PORT BYTES
 */
import '../../src/production-mode.ts'
import { Elysia } from 'elysia'

const [port = '0', bytes = '100'] = Bun.argv.slice(2)
const body = 'x'.repeat(Number(bytes))
const answer = () =>
  new Response(body, {
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store', vary: 'Origin' },
  })

const app = new Elysia()
  .get('/', answer)
  .post('/', ({ body: sent }) => (sent ? answer() : new Response(null, { status: 400 })))
  .listen({ port: Number(port), hostname: '127.0.0.1' })
console.log(`serving http://127.0.0.1:${app.server?.port}/`)
