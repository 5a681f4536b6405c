/** Who answers does so badly: later than is waited for, or with more than is read. */
export class TooMuch extends Error {
  override readonly name = 'TooMuch'
}

/**
 * Fetches from an address that an operator has set, or that such a one names: from there and no other,
 * within the signal's time, and no more than so many bytes, measured as they come: nothing small can
 * become large here.
 *
 * @throws TooMuch, or what fetch throws
 */
export async function boundedFetch(
  url: string,
  init: RequestInit & { signal: AbortSignal },
  mostBytes: number,
): Promise<Response> {
  const headers = new Headers(init.headers)
  headers.set('accept-encoding', 'identity')
  const response = await fetch(url, {
    ...init,
    headers,
    redirect: 'manual',
    // Asked so seldom that a connection kept open has mostly been closed at the other end.
    keepalive: false,
    decompress: false,
  })
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of response.body ?? []) {
    length += chunk.byteLength
    if (length > mostBytes) throw new TooMuch(`more than ${mostBytes / 1024} KiB`)
    chunks.push(chunk)
  }
  const isEmpty = response.status === 204 || response.status === 304
  return new Response(isEmpty ? null : Buffer.concat(chunks), response)
}
