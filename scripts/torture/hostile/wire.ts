import { connect, type Socket } from 'node:net'

/** How long to wait for an answer or the end of a connection; far longer than that takes. */
const patienceMs = 60_000

/** The length of a status line, up to the space after the status. */
const longestLine = 'HTTP/1.1 200 '.length

/** A connection over which anything can be written. What comes back is read unless reading is stopped. */
export class Wire implements Disposable {
  /** The statuses of the answers that came, in order; 100 does not count as an answer. */
  readonly statuses: number[] = []
  receivedBytes = 0
  isClosed = false
  /** What may be the beginning of another status line. */
  private rest = ''
  private wake = () => {}

  private constructor(private readonly socket: Socket) {
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

  static open(port: number): Promise<Wire> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => resolve(new Wire(socket)))
      socket.once('error', reject)
    })
  }

  write(bytes: string | Uint8Array): void {
    if (!this.isClosed) this.socket.write(bytes)
  }

  /** Says that nothing more will be written, and goes on to read. */
  endWriting(): void {
    this.socket.end()
  }

  /** Reads nothing from now on. */
  stopReading(): void {
    this.socket.pause()
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

  /** What became of the connection: the status of the first answer, or how it ended without one. */
  async outcome(): Promise<string> {
    await this.until(() => this.statuses.length > 0)
    return `${this.statuses[0] ?? (this.isClosed ? 'closed' : 'open')}`
  }

  /** Whether the connection was closed, and after which answer. */
  async end(): Promise<string> {
    await this.until(() => false)
    const [status] = this.statuses
    const answer = status === undefined ? 'unanswered' : `after ${status}`
    return `${this.isClosed ? 'closed' : 'open'} ${answer}`
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
    this.rest = searched.slice(Math.max(end, searched.length - longestLine))
  }
}
