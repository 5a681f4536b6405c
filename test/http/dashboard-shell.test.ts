import { afterAll, expect, test } from 'bun:test'
import { World } from '../support/world.ts'

/** The dashboard's page and its files, which hold nobody's data. */

const world = new World()
afterAll(() => world.close())

const ask = async (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  world.app.handle(new Request(`http://cairn.test${path}`, { method, headers }))

/** Where the page at an address finds its script, as a browser resolves it. */
async function scriptOf(path: string): Promise<string> {
  const html = await (await ask(path)).text()
  const [, src = ''] = /<script type="module" src="([^"]+)"/.exec(html) ?? []
  return new URL(src, `http://cairn.test${path}`).pathname
}

test('one page answers at every address, and finds its files from each', async () => {
  const paths = ['', '/sign-in', '/harbor', '/harbor/flows/welcome', '/a/b/c/d/e?from=x']
  for (const path of paths) {
    expect(await scriptOf(`/dashboard${path}`)).toMatch(/^\/dashboard\/assets\/entry-\w+\.js$/)
  }
  expect((await ask(`/dashboard${'/deep'.repeat(9)}`)).status).toBe(404)
})

test('an address with a trailing slash redirects to the one without', async () => {
  for (const path of ['/dashboard/', '/dashboard/harbor/flows/']) {
    const { status, headers } = await ask(path)
    expect(status).toBe(308)
    const to = new URL(headers.get('location')!, `http://cairn.test${path}`)
    expect(to.pathname).toBe(path.slice(0, -1))
  }
})

test('no text becomes markup, and no other site opens, embeds or reads it', async () => {
  const { headers } = await ask('/dashboard/harbor', { origin: 'https://elsewhere.example' })
  const policy = headers.get('content-security-policy')!
  expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'")
  expect(policy).toContain("require-trusted-types-for 'script'; trusted-types 'none'")
  expect(policy).not.toContain('unsafe')
  expect(headers.get('cross-origin-opener-policy')).toBe('same-origin')
  expect(headers.get('cross-origin-resource-policy')).toBe('same-origin')
  expect(headers.get('referrer-policy')).toBe('no-referrer')
  expect(headers.get('cache-control')).toBe('no-store')
  expect(headers.get('access-control-allow-origin')).toBeNull()
})

test('files are compressed, and cached for ever under a name that has their hash', async () => {
  const html = await (await ask('/dashboard')).text()
  const files = [...html.matchAll(/(?:href|src)="(dashboard\/assets\/[^"]+)"/g)]
  expect(files.length).toBeGreaterThan(1)
  for (const [, file] of files) {
    const { status, headers } = await ask(`/${file}`, { 'accept-encoding': 'br' })
    expect([status, headers.get('content-encoding')]).toEqual([200, 'br'])
    expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(headers.get('content-type')).toMatch(/^text\/(css|javascript); charset=utf-8$/)
  }
  expect((await ask('/dashboard/assets/main-gone.js')).status).toBe(404)
  expect((await ask('/dashboard/harbor', {}, 'POST')).status).toBe(405)
})

test('the page names the style and font that manual and API page use, which are cached for ever', async () => {
  for (const path of ['/dashboard/harbor/flows', '/docs', '/docs/deploy', '/api/v1/docs']) {
    const html = await (await ask(path)).text()
    const addressOf = (name: RegExp) =>
      new URL(name.exec(html)![1]!, `http://cairn.test${path}`).pathname
    expect(addressOf(/<link rel="stylesheet" href="([^"]*brand\.css)"/)).toBe('/docs/brand.css')
    expect(addressOf(/<link rel="preload" href="([^"]+)" as="font"/)).toMatch(/\/inter-latin-\w+/)
  }
  const style = await (await ask('/docs/brand.css')).text()
  const fonts = [...style.matchAll(/url\(([^)]+\.woff2)\)/g)].map(([, name]) => name)
  expect(fonts).toHaveLength(4)
  for (const font of fonts) {
    const response = await ask(`/docs/${font}`)
    expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(await response.text()).toStartWith('wOF2')
  }
})

test('what the first page loads is at most 45 KiB of compressed scripts', async () => {
  const { dashboard } = await import('../../src/web/dashboard-files.ts')
  const loaded = new Set<string>()
  const load = (name: string) => {
    if (loaded.has(name)) return
    loaded.add(name)
    for (const [, next] of dashboard.files[name]!.matchAll(/from"\.\/([^"]+\.js)"/g)) load(next!)
  }
  load(dashboard.script)
  load(Object.keys(dashboard.files).find(name => name.startsWith('overview-page'))!)
  const sizes = [...loaded].map(name => Bun.gzipSync(dashboard.files[name]!).length)
  expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(45 * 1_024)
})
