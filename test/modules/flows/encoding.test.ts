import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import { tour } from '../../support/flows.ts'
import { Tenant } from '../../support/tenant.ts'
import { World } from '../../support/world.ts'

const world = new World()
afterAll(() => world.close())

let tenant: Tenant
let flowId: string
beforeAll(async () => {
  tenant = await Tenant.of(world)
  tenant.limit({ flows: 100_000 })
  flowId = tenant.publish(tour()).id
})

const decoders: Record<string, (bytes: Uint8Array) => Uint8Array> = {
  br: brotliDecompressSync,
  zstd: zstdDecompressSync,
  gzip: gunzipSync,
  identity: bytes => bytes,
}

async function fetched(accept: string | null, more: Record<string, string> = {}, path = '/flows') {
  const headers = { ...(accept === null ? {} : { 'accept-encoding': accept }), ...more }
  const response = await tenant.ask(`GET ${path}`, { headers })
  const encoding = response.headers.get('content-encoding') ?? 'identity'
  const bytes = new Uint8Array(await response.arrayBuffer())
  return {
    status: response.status,
    encoding,
    etag: response.headers.get('etag') ?? '',
    text: bytes.length > 0 ? Buffer.from(decoders[encoding]!(bytes)).toString() : '',
    headers: response.headers,
  }
}

describe('the encoding', () => {
  test.each([
    [null, 'identity'],
    ['', 'identity'],
    ['identity', 'identity'],
    ['gzip', 'gzip'],
    ['zstd', 'zstd'],
    ['br', 'br'],
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip, deflate', 'gzip'],
    ['GZIP', 'gzip'],
    ['deflate', 'identity'],
    ['*', 'br'],
    ['br;q=0.5, gzip', 'gzip'],
    ['br;q=0, *', 'zstd'],
    ['br;q=0, zstd;q=0, gzip;q=0', 'identity'],
    ['gzip;q=0.1, identity;q=0.9', 'identity'],
    ['identity;q=0', 'identity'],
    ['x-unknown;q=1, gzip;q=0.001', 'gzip'],
    [';;;q=', 'identity'],
  ])('for Accept-Encoding %j is %s', async (accept, encoding) => {
    expect((await fetched(accept)).encoding).toBe(encoding)
    expect((await fetched(accept, {}, `/flows/${flowId}`)).encoding).toBe(encoding)
  })

  test('changes the bytes and the ETag, never the text', async () => {
    const plain = await fetched(null)
    const etags = new Set([plain.etag])
    for (const accept of ['br', 'zstd', 'gzip']) {
      const { text, etag } = await fetched(accept)
      expect(text).toBe(plain.text)
      etags.add(etag)
    }
    expect(etags.size).toBe(4)
    for (const etag of etags) expect(etag).toMatch(/^"[^"]+"$/)
  })

  test('a thousand different headers are not remembered, and a very long one is not read', async () => {
    for (let i = 0; i < 1_000; i++) await fetched(`gzip, x-${i}`)
    expect((await fetched(`gzip, ${'x'.repeat(10_000)}`)).encoding).toBe('identity')
  })
})
