import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import { Tenant } from '../../support/tenant.ts'
import { World } from '../../support/world.ts'

const world = new World()
afterAll(() => world.close())

let tenant: Tenant
beforeAll(async () => {
  tenant = await Tenant.of(world)
  tenant.limit({ flows: 100_000 })
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
