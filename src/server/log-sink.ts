import { writeSync } from 'node:fs'

/**
 * The most bytes that a pipe takes in one piece (PIPE_BUF on Linux): threads share one pipe, and
 * larger writes of two of them would mix their lines.
 */
const pieceBytes = 4_096

/** How long lines may wait to be written together, milliseconds. */
const flushEveryMs = 200

/** How often a reader that is slower than a pipe that does not block is tried, a millisecond apart. */
const mostTries = 1_000

type Write = (text: Buffer) => number

/**
 * Where the lines of one thread's log go: gathered, because a write for each request would cost
 * more than the request, and written in pieces of whole lines. A log that cannot be written is no
 * reason to stop serving: lines that nobody takes are dropped, and once the reader has gone
 * (`cairn serve | head`) all are.
 */
export class LogSink {
  private text = ''
  private isClosed = false

  constructor(private readonly out: Write = bytes => writeSync(1, bytes)) {}

  /** Writes what has gathered every so often, and when the thread ends. */
  static open(): LogSink {
    const sink = new LogSink()
    setInterval(() => sink.flush(), flushEveryMs).unref()
    process.on('exit', () => sink.flush())
    return sink
  }

  /** @param line with its line feed */
  write(line: string): void {
    if (this.isClosed) return
    // Characters, which are bytes in nearly every line.
    if (this.text.length + line.length > pieceBytes) this.flush()
    this.text += line
  }

  flush(): void {
    if (this.text === '') return
    const bytes = Buffer.from(this.text)
    this.text = ''
    for (let at = 0, tries = 0; at < bytes.length && !this.isClosed; ) {
      try {
        at += this.out(at === 0 ? bytes : bytes.subarray(at))
      } catch (error) {
        const { code } = error as { code?: string }
        if (code === 'EPIPE' || code === 'EBADF') this.isClosed = true
        // A full disk takes nothing of this piece, and perhaps the next one.
        else if (code !== 'EAGAIN' || ++tries > mostTries) return
        else Bun.sleepSync(1)
      }
    }
  }
}
