import { connect, type Socket } from 'node:net'

/** How long an answer, or the end of a connection, is waited for; far beyond what it takes. */
const patienceMs = 60_000

/** A connection over which anything can be written; what comes back is read unless it is held back. */
export class Wire implements Disposable {
  /** What came, as far as anybody looks at it. */
  text = ''
  answers = 0
  isClosed = false
  private wake = () => {}

  private constructor(private readonly socket: Socket) {
    socket.setEncoding('latin1')
    socket.on('data', (text: string) => {
      this.answers += text.split('HTTP/1.1 ').length - 1
      if (this.text.length < 100_000) this.text += text
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

  /** The status of the last answer, 100 not counted; null where none came. */
  get status(): number | null {
    return Number([...this.text.matchAll(/HTTP\/1\.1 ([2-5]\d\d)/g)].at(-1)?.[1]) || null
  }

  /** Waits until a condition holds, or the connection is closed; false where neither comes. */
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

  /** What became of it: the last answer, or how it ended without one. */
  async outcome(): Promise<string> {
    await this.until(() => this.status !== null)
    return this.status === null ? (this.isClosed ? 'closed' : 'open') : `${this.status}`
  }

  /** Whether it was closed, and after what. */
  async end(): Promise<string> {
    await this.until(() => false)
    const answer = this.status === null ? 'unanswered' : `after ${this.status}`
    return `${this.isClosed ? 'closed' : 'open'} ${answer}`
  }

  [Symbol.dispose](): void {
    this.socket.destroy()
  }
}
