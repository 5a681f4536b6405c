import { afterAll, expect, test } from 'bun:test'
import { World } from '../../support/world.ts'

/** The manual as a browser asks for it. */

const world = new World()
afterAll(() => world.close())

const ask = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  world.app.handle(new Request(`http://cairn.test${path}`, { method, headers }))

test.each(['/docs', '/docs/deploy', '/docs/manual.css', '/docs/manual.js', '/docs/search.js'])(
  '%s is for anyone, compressed, and not sent again to those who have it',
  async path => {
    const whole = await ask(path)
    expect(whole.status).toBe(200)
    expect(whole.headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    )
    const packed = await ask(path, { 'accept-encoding': 'br' })
    expect(packed.headers.get('content-encoding')).toBe('br')
    for (const { headers } of [whole, packed]) {
      const etag = headers.get('etag')!
      const encoding = headers.get('content-encoding') ?? 'identity'
      const again = await ask(path, { 'if-none-match': etag, 'accept-encoding': encoding })
      expect([again.status, await again.text()]).toEqual([304, ''])
    }
  },
)

test('a page has neither script nor style of its own, and every address in it is relative', async () => {
  for (const path of ['/docs', '/docs/api']) {
    const html = await (await ask(path)).text()
    expect(html).not.toMatch(/<style|<script>|\sstyle=|\son[a-z]+=/)
    const loaded = [...html.matchAll(/(?:src|<link [^>]*href)="([^"]+)"/g)].map(([, to]) => to!)
    expect(loaded.length).toBeGreaterThan(3)
    expect(loaded.filter(to => /^(\/|[a-z]+:)/.test(to))).toEqual([])
  }
})

test('a topic that is not there is 404, and nothing can be written', async () => {
  expect((await ask('/docs/no-such-topic')).status).toBe(404)
  expect((await ask('/docs/__proto__')).status).toBe(404)
  const posted = await ask('/docs', {}, 'POST')
  expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
})
