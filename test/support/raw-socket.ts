import { connect } from 'node:net'

/** What a connection received until it was closed. */
export interface RawAnswer {
  text: string
  /** The answers in order: status and everything after the head. */
  answers: { status: number; headers: Record<string, string>; body: string }[]
}

function headersOf(lines: string[]): Record<string, string> {
  return Object.fromEntries(
    lines.map(line => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
}

/**
 * Splits whole answers by their Content-Length. A chunked one is taken to go on until the connection
 * ends, so it is not whole before.
 */
function answersIn(text: string, methods: readonly string[]): RawAnswer['answers'] {
  const answers: RawAnswer['answers'] = []
  let at = 0
  for (;;) {
    const end = text.indexOf('\r\n\r\n', at)
    if (end < 0) return answers
    const [first = '', ...lines] = text.slice(at, end).split('\r\n')
    const headers = headersOf(lines)
    const isBodiless = methods[answers.length] === 'HEAD' || /^HTTP\/1.1 (204|304)/.test(first)
    const length = headers['transfer-encoding'] ? Infinity : Number(headers['content-length'] ?? 0)
    const start = end + 4
    at = isBodiless ? start : start + length
    if (at > text.length) return answers
    answers.push({ status: Number(first.split(' ')[1]), headers, body: text.slice(start, at) })
  }
}

/**
 * Sends requests as they are over one connection, each after the answer to the one before, and
 * reads until the server closes it: so the last request should say `Connection: close`.
 *
 * @param door a port of this machine, or the path of a socket
 */
export function overSocket(
  door: number | string,
  ...requests: (string | Buffer)[]
): Promise<RawAnswer> {
  const bytes = requests.map(request => Buffer.from(request as string))
  const methods = bytes.map(request => request.toString('latin1').split(' ', 1)[0] ?? '')
  return new Promise(resolve => {
    let text = ''
    let sent = 0
    const to = typeof door === 'string' ? { path: door } : { port: door, host: '127.0.0.1' }
    const socket = connect(to, () => socket.write(bytes[sent++]!))
    socket.setEncoding('latin1')
    socket.on('data', data => {
      text += data
      const next = bytes[sent]
      if (!next || answersIn(text, methods).length < sent) return
      sent++
      socket.write(next)
    })
    // A connection that breaks is one of the things that are tested.
    socket.on('error', () => {})
    socket.on('close', () => resolve({ text, answers: answersIn(text, methods) }))
  })
}
