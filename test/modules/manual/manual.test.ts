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

const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

test('a browser that asks for a topic that is not there gets a page that lists the topics', async () => {
  for (const path of ['/docs/no-such-topic', '/docs/guide/no-such-topic', '/docs/a/b/c']) {
    const { status, headers } = await ask(path, html)
    expect([status, headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
    expect(headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(headers.get('cache-control')).toBe('no-store')
    const text = await (await ask(path, html)).text()
    const addresses = [...text.matchAll(/(?:src|href)="([^"#]+)"/g)].map(
      ([, to]) => new URL(to!, `http://cairn.test${path}`).pathname,
    )
    expect(addresses).toContain('/docs/write-flows')
    for (const address of new Set(addresses)) expect((await ask(address)).status).toBe(200)
  }
})

test('nobody else gets that page', async () => {
  const json = 'application/json; charset=utf-8'
  const typeOf = async (...asked: Parameters<typeof ask>) =>
    (await ask(...asked)).headers.get('content-type')
  expect(await typeOf('/docs/no-such-topic', { accept: '*/*' })).toBe(json)
  expect(await typeOf('/docs/no-such-topic', html, 'POST')).toBe(json)
  expect(await typeOf('/docs/a/b', { accept: 'application/json' })).toBe(json)
  expect(await typeOf(`/docs${'/deep'.repeat(9)}`, html)).toBe(json)
})
