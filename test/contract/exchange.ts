import { overSocket } from '../support/raw-socket.ts'

/** One request, as it will be sent. */
export interface Sent {
  method: string
  target: string
  headers: readonly (readonly [name: string, value: string])[]
  body: Buffer | null
  /** The body goes out in chunks of 16 KiB, without a length. */
  isChunked: boolean
}

/** One answer, as it was received. */
export interface Answer {
  status: number
  /** By name in lower case; several of one name are joined by commas. */
  headers: ReadonlyMap<string, string>
  body: Buffer
}

const chunkBytes = 16 * 1024

function framed(body: Buffer): Buffer {
  const chunks: Buffer[] = []
  for (let at = 0; at < body.length; at += chunkBytes) {
    const chunk = body.subarray(at, at + chunkBytes)
    chunks.push(Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n'))
  }
  return Buffer.concat([...chunks, Buffer.from('0\r\n\r\n')])
}

function unframed(body: Buffer): Buffer {
  const chunks: Buffer[] = []
  for (let at = 0; ; ) {
    const end = body.indexOf('\r\n', at)
    const length = Number.parseInt(body.subarray(at, end).toString(), 16)
    if (end < 0 || Number.isNaN(length)) throw new Error('The answer broke off within its chunks')
    if (length === 0) return Buffer.concat(chunks)
    chunks.push(body.subarray(end + 2, end + 2 + length))
    at = end + 2 + length + 2
  }
}

function answerIn(bytes: Buffer, method: string): Answer {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) throw new Error(`No answer but: ${bytes.toString().slice(0, 200)}`)
  const [first = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n')
  const headers = new Map<string, string>()
  for (const line of lines) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).toLowerCase()
    const value = line.slice(colon + 1).trim()
    headers.set(name, headers.has(name) ? `${headers.get(name)}, ${value}` : value)
  }
  const rest = bytes.subarray(end + 4)
  const isChunked = headers.get('transfer-encoding') === 'chunked' && method !== 'HEAD'
  return {
    status: Number(first.split(' ')[1]),
    headers,
    body: isChunked ? unframed(rest) : rest,
  }
}

/** Sends a request exactly as it is, over a connection of its own, and reads the answer. */
export async function exchange(door: number | string, sent: Sent): Promise<Answer> {
  const { method, target, headers, body, isChunked } = sent
  const framing = isChunked
    ? [['Transfer-Encoding', 'chunked']]
    : body
      ? [['Content-Length', `${body.length}`]]
      : []
  const lines = [['Host', 'cairn.test'], ...headers, ...framing, ['Connection', 'close']]
  const head = [
    `${method} ${target} HTTP/1.1`,
    ...lines.map(([name, value]) => `${name}: ${value}`),
  ]
  const payload = body ? (isChunked ? framed(body) : body) : Buffer.alloc(0)
  const request = Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), payload])
  const { text } = await overSocket(door, request)
  return answerIn(Buffer.from(text, 'latin1'), method)
}
