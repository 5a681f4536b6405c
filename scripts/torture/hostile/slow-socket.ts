import { dlopen, ptr } from 'bun:ffi'

/** Linux: AF_INET, SOCK_STREAM, SOL_SOCKET with SO_RCVBUF and SO_RCVTIMEO, MSG_DONTWAIT. */
const inet = 2
const stream = 1
const socketLevel = 1
const receiveBuffer = 8
const receiveTimeout = 20
const dontWait = 0x40

const libc = dlopen('libc.so.6', {
  socket: { args: ['int', 'int', 'int'], returns: 'int' },
  setsockopt: { args: ['int', 'int', 'int', 'ptr', 'u32'], returns: 'int' },
  bind: { args: ['int', 'ptr', 'u32'], returns: 'int' },
  connect: { args: ['int', 'ptr', 'u32'], returns: 'int' },
  send: { args: ['int', 'ptr', 'u64', 'int'], returns: 'i64' },
  recv: { args: ['int', 'ptr', 'u64', 'int'], returns: 'i64' },
  close: { args: ['int'], returns: 'int' },
}).symbols

/** The size of a receive buffer of a few pages. */
const bufferBytes = Buffer.from(Int32Array.of(4_096).buffer)
/** How long to wait for an answer: seconds and microseconds. */
const patience = Buffer.from(BigInt64Array.of(10n, 0n).buffer)

const piece = Buffer.alloc(65_536)

/** An address of the loopback network, of which there are 16 million. */
export type Loopback = readonly [127, number, number, number]

function addressOf(host: Loopback, port: number): Buffer {
  const address = Buffer.alloc(16)
  address.writeUInt16LE(inet, 0)
  address.writeUInt16BE(port, 2)
  address.set(host, 4)
  return address
}

/**
 * A connection that accepts no more from the server than it is asked to. For any other, the kernel would
 * buffer megabytes, however slowly it is read. It can come from any address of the loopback network.
 */
export class SlowSocket implements Disposable {
  private readonly socket = libc.socket(inet, stream, 0)
  received = 0
  /** The last bytes that were received. */
  ending = ''
  /** Whether the server has ended the connection, or broken it. */
  isEnded = false

  constructor(port: number, from: Loopback = [127, 0, 0, 1]) {
    const address = addressOf(from, 0)
    libc.bind(this.socket, ptr(address), address.length)
    libc.setsockopt(this.socket, socketLevel, receiveBuffer, ptr(bufferBytes), bufferBytes.length)
    libc.setsockopt(this.socket, socketLevel, receiveTimeout, ptr(patience), patience.length)
    const server = addressOf([127, 0, 0, 1], port)
    if (libc.connect(this.socket, ptr(server), server.length) !== 0) {
      throw new Error(`port ${port} cannot be reached`)
    }
  }

  write(text: string): void {
    const bytes = Buffer.from(text)
    libc.send(this.socket, ptr(bytes), bytes.length, 0)
  }

  /** Takes at most so many of the bytes that are there, without waiting. */
  take(most: number): void {
    this.receive(Math.min(most, piece.length), dontWait)
  }

  /** The status of the answer; null if none comes. Blocks this thread. */
  waitForStatus(): number | null {
    const text = this.receive(piece.length, 0)
    return Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]) || null
  }

  [Symbol.dispose](): void {
    libc.close(this.socket)
  }

  private receive(most: number, flags: number): string {
    const length = Number(libc.recv(this.socket, ptr(piece), most, flags))
    if (length === 0) this.isEnded = true
    if (length <= 0) return ''
    this.received += length
    const text = piece.toString('latin1', 0, length)
    this.ending = (this.ending + text).slice(-16)
    return text
  }
}
