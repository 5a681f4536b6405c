import { event, headOf, marker, postOf, type Target } from './target.ts'

/** Requests that break HTTP's rules, or stretch them, and what becomes of each: a status, or `closed`. */
export function malformed(target: Target): readonly [request: string, outcome: string][] {
  const { snippetKey } = target
  const get = (more: string) => `${headOf('GET /flows', snippetKey, more)}\r\n`
  const framed = (framing: string, body: string) => postOf(target, `${framing}\r\n`, body)
  const size = event.length.toString(16)
  const chunked = (first: string, last = '0\r\n\r\n') =>
    framed('Transfer-Encoding: chunked', `${first}\r\n${event}\r\n${last}`)
  return [
    [`${marker}\r\n\r\n`, '400'],
    ['\x16\x03\x01\x00\xf1\x01\x00\x00\xed\x03\x03\r\n\r\n', '400'],
    ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', '400'],
    ['GET /api/v1/flows HTTP/1.1\r\n\r\n', '400'],
    ['GET /api/v1/flows\r\n\r\n', '505'],
    [`GET /api/v1/flows HTTP/2.7\r\nHost: x\r\n\r\n`, '505'],
    ['GET /api/v1/flows HTTP/1.1\nHost: x\n\n', '505'],
    ['OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n', '400'],
    ['CONNECT a:1 HTTP/1.1\r\nHost: x\r\n\r\n', '404'],
    ['TRACE /api/v1/flows HTTP/1.1\r\nHost: x\r\n\r\n', '405'],
    [`${'G'.repeat(5_000)} / HTTP/1.1\r\nHost: x\r\n\r\n`, 'closed'],
    [get('A: b\r\n c\r\n'), '400'],
    [get('A : b\r\n'), '400'],
    [get('A: b\0c\r\n'), '400'],
    [get('A: b\u0001c\r\n'), '400'],
    [get('Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n'), '200'],
    // Lengths that contradict each other, or are none: who reads them another way is not led astray.
    [framed('Content-Length: 5\r\nTransfer-Encoding: chunked', '0\r\n\r\n'), '400'],
    [framed('Transfer-Encoding: chunked\r\nContent-Length: 5', '0\r\n\r\n'), '400'],
    [framed(`Content-Length: ${event.length}\r\nContent-Length: 3`, event), '400'],
    [framed(`Content-Length: ${event.length}, ${event.length}`, event), '400'],
    [framed(`Content-Length: +${event.length}`, event), '400'],
    [framed('Content-Length: -1', event), '400'],
    [framed('Content-Length: 0x10', event), '400'],
    [framed('Content-Length: ', event), '400'],
    [framed('Content-Length: 99999999999999999999999', event), '400'],
    [framed('Content-Length: 9663676416', event), '413'],
    [framed('Transfer-Encoding: gzip, chunked', ''), '400'],
    [framed('Transfer-Encoding: identity', event), '400'],
    [framed('Transfer-Encoding: xchunked', event), '400'],
    [framed('Transfer-Encoding: chunked\r\nTransfer-Encoding: identity', ''), '400'],
    [chunked(`${size};a=b;c="d"`), '202'],
    [chunked(`${size};a=${'b'.repeat(1_000_000)}`), '413'],
    [chunked('f'.repeat(18)), '400'],
    [chunked('7fffffffffffffff'), '400'],
    [chunked('-5'), '400'],
    [chunked(''), '400'],
    [chunked(`0x${size}`), '400'],
    [chunked('5'), '400'],
    [chunked(size, `0\r\nX-A: ${marker}\r\n\r\n`), '400'],
    [framed('Transfer-Encoding: chunked', `${size}\n${event}\n0\n\n`), '400'],
    [framed(`Expect: 100-continue\r\nContent-Length: ${event.length}`, event), '202'],
    // Headers without end, and one that is larger than all may be.
    [get(Array.from({ length: 10_000 }, (_, i) => `X-${i}: ${marker}\r\n`).join('')), '431'],
    [get(`X: ${marker.repeat(300_000)}\r\n`), '431'],
    [headOf(`GET /${'y'.repeat(1_900_000)}`, snippetKey, '\r\n'), '431'],
    [headOf(`GET /${'y'.repeat(60_000)}`, snippetKey, '\r\n'), '414'],
    [headOf('GET /flows/%ff%fe', snippetKey, '\r\n'), '404'],
  ]
}
