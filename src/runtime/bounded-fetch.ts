/** The other side answers too late, or with more than is read. */
export class TooMuch extends Error {
  override readonly name = 'TooMuch'
}

/**
 * Fetches from an address that an operator has set, or that such an address names. It follows no redirects,
 * takes no longer than the signal allows, and reads no more than `mostBytes`, measured as they arrive: it
 * never decompresses, so nothing small can become large.
 *
 * @throws TooMuch, or what fetch throws
 */
export async function boundedFetch(
  url: string,
  init: RequestInit & { signal: AbortSignal },
  maxBytes: number,
): Promise<Response> {
  const headers = new Headers(init.headers)
  headers.set('accept-encoding', 'identity')
  const response = await fetch(url, {
    ...init,
    headers,
    redirect: 'manual',
    // Requests are so rare that the other end has mostly closed a kept connection by then.
    keepalive: false,
    decompress: false,
  })
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of response.body ?? []) {
    length += chunk.byteLength
    if (length > maxBytes) throw new TooMuch(`more than ${maxBytes / 1024} KiB`)
    chunks.push(chunk)
  }
  const isEmpty = response.status === 204 || response.status === 304
  return new Response(isEmpty ? null : Buffer.concat(chunks), response)
}
