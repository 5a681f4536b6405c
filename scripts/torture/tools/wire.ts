import { connect, type Socket } from 'node:net'

/** How long to wait for a response or the end of a connection; far longer than that takes. */
const patienceMs = 60_000

/** The length of a status line, up to the space after the status. */
const maxLine = 'HTTP/1.1 200 '.length

/** A connection over which anything can be written. What comes back is read unless reading is paused. */
export class Wire implements Disposable {
  /** The statuses of the responses that came, in order; 100 does not count as a response. */
  readonly statuses: number[] = []
  receivedBytes = 0
  isClosed = false
  /** What may be the beginning of another status line. */
  private rest = ''
  private wake = () => {}

  private constructor(readonly socket: Socket) {
    socket.setEncoding('latin1')
    socket.on('data', (text: string) => {
      this.receivedBytes += text.length
      this.findStatuses(text)
      this.wake()
    })
    // A connection that breaks is one of the things that are expected.
    socket.on('error', () => {})
    socket.on('close', () => {
      this.isClosed = true
      this.wake()
    })
  }

  /** @param localAddress any address of the loopback network, of which there are 16 million */
  static open(port: number, localAddress = '127.0.0.1'): Promise<Wire> {
    return new Promise((resolve, reject) => {
      const to = { port, host: '127.0.0.1', localAddress }
      const socket = connect(to, () => resolve(new Wire(socket)))
      socket.once('error', reject)
    })
  }

  write(bytes: string | Uint8Array): void {
    if (!this.isClosed) this.socket.write(bytes)
  }

  /** Waits until a condition holds or the connection is closed; false if neither happens. */
  async until(condition: () => boolean): Promise<boolean> {
    const deadline = performance.now() + patienceMs
    while (!this.isClosed && !condition()) {
      const leftMs = deadline - performance.now()
      if (leftMs <= 0) return false
      const { promise, resolve } = Promise.withResolvers<void>()
      this.wake = resolve
      const timer = setTimeout(resolve, leftMs)
      await promise
      clearTimeout(timer)
    }
    return true
  }

  /** The status of the first response, or how the connection ended without one. */
  async outcome(): Promise<string> {
    await this.until(() => this.statuses.length > 0)
    return `${this.statuses[0] ?? (this.isClosed ? 'closed' : 'open')}`
  }

  /** Whether the connection was closed, and after which response. */
  async end(): Promise<string> {
    await this.until(() => false)
    return `${this.isClosed ? 'closed' : 'open'} after ${this.statuses[0] ?? 'no response'}`
  }

  [Symbol.dispose](): void {
    this.socket.destroy()
  }

  private findStatuses(text: string): void {
    const searched = this.rest + text
    let end = 0
    for (const { 0: line, 1: status, index } of searched.matchAll(/HTTP\/1\.1 ([2-5]\d\d) /g)) {
      this.statuses.push(Number(status))
      end = index + line.length
    }
    this.rest = searched.slice(Math.max(end, searched.length - maxLine))
  }
}
