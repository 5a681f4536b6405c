import { dlopen, ptr } from 'bun:ffi'
import { rmSync } from 'node:fs'

/** A unix datagram socket that a test listens on, as systemd does, through the C library. */
export class Datagrams {
  private readonly library = dlopen('libc.so.6', {
    socket: { args: ['int', 'int', 'int'], returns: 'int' },
    bind: { args: ['int', 'ptr', 'u32'], returns: 'int' },
    recv: { args: ['int', 'ptr', 'u64', 'int'], returns: 'i64' },
    close: { args: ['int'], returns: 'int' },
  }).symbols
  private readonly socket: number
  /** Everything that was received, in order. */
  readonly received: string[] = []

  /** @param name a path, or an abstract name that begins with `@` */
  constructor(readonly name: string) {
    const path = name.startsWith('@') ? `\0${name.slice(1)}` : `${name}\0`
    const address = Buffer.alloc(2 + Buffer.byteLength(path))
    address.writeUInt16LE(1, 0)
    address.write(path, 2)
    this.socket = this.library.socket(1, 2, 0)
    if (this.library.bind(this.socket, ptr(address), address.length) !== 0) {
      throw new Error(`cannot bind ${name}`)
    }
  }

  /** Takes what is there, without waiting. */
  read(): string[] {
    const bytes = Buffer.alloc(4_096)
    const dontWait = 0x40
    for (;;) {
      const length = Number(this.library.recv(this.socket, ptr(bytes), bytes.length, dontWait))
      if (length < 0) return this.received
      this.received.push(bytes.toString('utf8', 0, length))
    }
  }

  close(): void {
    this.library.close(this.socket)
    if (!this.name.startsWith('@')) rmSync(this.name, { force: true })
  }
}
