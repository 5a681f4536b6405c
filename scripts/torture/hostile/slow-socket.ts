import { dlopen, ptr } from 'bun:ffi'

/** Of Linux: AF_INET, SOCK_STREAM, SOL_SOCKET, SO_RCVBUF, MSG_DONTWAIT, SHUT_WR, EAGAIN. */
const inet = 2
const stream = 1
const socketLevel = 1
const receiveBuffer = 8
const dontWait = 0x40

const libc = dlopen('libc.so.6', {
  socket: { args: ['int', 'int', 'int'], returns: 'int' },
  setsockopt: { args: ['int', 'int', 'int', 'ptr', 'u32'], returns: 'int' },
  connect: { args: ['int', 'ptr', 'u32'], returns: 'int' },
  send: { args: ['int', 'ptr', 'u64', 'int'], returns: 'i64' },
  recv: { args: ['int', 'ptr', 'u64', 'int'], returns: 'i64' },
  close: { args: ['int'], returns: 'int' },
}).symbols

/** What is read at once. */
const piece = Buffer.alloc(65_536)

/**
 * A connection that takes in no more than it is asked to. Of other sockets the kernel takes megabytes
 * off the server's hands, however slowly they are read; this one's receive buffer holds a few pages.
 */
export class SlowSocket implements Disposable {
  private readonly socket = libc.socket(inet, stream, 0)
  received = 0
  /** The last bytes that came. */
  private tail = Buffer.alloc(0)
  /** Whether the server has ended the connection, or broken it. */
  isEnded = false

  constructor(port: number) {
    const bytes = Buffer.alloc(4)
    bytes.writeInt32LE(4_096)
    libc.setsockopt(this.socket, socketLevel, receiveBuffer, ptr(bytes), bytes.length)
    const address = Buffer.alloc(16)
    address.writeUInt16LE(inet, 0)
    address.writeUInt16BE(port, 2)
    address.set([127, 0, 0, 1], 4)
    if (libc.connect(this.socket, ptr(address), address.length) !== 0) {
      throw new Error(`cannot connect to port ${port}`)
    }
  }

  write(text: string): void {
    const bytes = Buffer.from(text)
    libc.send(this.socket, ptr(bytes), bytes.length, 0)
  }

  /** Takes at most so many bytes of those that are there; waits for nothing. */
  read(most: number): Buffer {
    const length = Number(
      libc.recv(this.socket, ptr(piece), Math.min(most, piece.length), dontWait),
    )
    if (length === 0) this.isEnded = true
    if (length <= 0) return Buffer.alloc(0)
    this.received += length
    const read = Buffer.from(piece.subarray(0, length))
    this.tail = Buffer.concat([this.tail, read]).subarray(-16)
    return read
  }
  get lastText(): string {
    return this.tail.toString('latin1')
  }

  [Symbol.dispose](): void {
    libc.close(this.socket)
  }
}
