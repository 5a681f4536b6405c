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

  test('is named in Vary, with the credential and the origin', async () => {
    const { headers } = await fetched('br')
    expect(headers.get('vary')).toBe('Authorization, Origin, Accept-Encoding')
    expect(headers.get('cache-control')).toBe('private, max-age=60')
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
  })

  test('a thousand different headers are not remembered, and a very long one is not read', async () => {
    for (let i = 0; i < 1_000; i++) await fetched(`gzip, x-${i}`)
    expect((await fetched(`gzip, ${'x'.repeat(10_000)}`)).encoding).toBe('identity')
  })
})

describe('If-None-Match', () => {
  const match = async (header: (etag: string) => string, accept: string | null = null) => {
    const { etag } = await fetched(accept)
    const answer = await fetched(accept, { 'if-none-match': header(etag) })
    expect(answer.etag).toBe(etag)
    return answer.status
  }

  test.each<[string, (etag: string) => string]>([
    ['the ETag', etag => etag],
    ['a weak form of it, as a proxy makes', etag => `W/${etag}`],
    ['a list with it', etag => `"other", ${etag}, "another"`],
    ['a list without spaces', etag => `"other",W/${etag}`],
    ['*', () => '*'],
  ])('with %s is 304, without a body', async (_, header) => {
    expect(await match(header)).toBe(304)
    expect(await match(header, 'br')).toBe(304)
  })

  test.each<[string, (etag: string) => string]>([
    ['another tag', () => '"other"'],
    ['the tag without quotes', etag => etag.replaceAll('"', '')],
    ['nothing', () => ''],
  ])('with %s is 200', async (_, header) => {
    expect(await match(header)).toBe(200)
  })

  test('with the tag of another encoding is 200: the bytes are not the same', async () => {
    const { etag } = await fetched('gzip')
    expect((await fetched('br', { 'if-none-match': etag })).status).toBe(200)
  })

  test('with the tag from before a publication is 200', async () => {
    const { etag } = await fetched('br')
    tenant.publish(tour({ name: 'Edited' }))
    const { status, text } = await fetched('br', { 'if-none-match': etag })
    expect(status).toBe(200)
    expect(text).toContain('Edited')
  })

  test('works for one flow as for the list', async () => {
    const path = `/flows/${flowId}`
    const { etag } = await fetched('zstd', {}, path)
    expect((await fetched('zstd', { 'if-none-match': etag }, path)).status).toBe(304)
  })
})
