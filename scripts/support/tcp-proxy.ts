import { connect, createServer, type Server, type Socket } from 'node:net'

/** What happens to a connection when a client has sent something. */
export type Cut =
  /** It does not arrive, and both ends are closed. */
  | 'before'
  /** It arrives, and the answer does not. */
  | 'after'
  /** It arrives, and after it nothing more does, on this and all other connections: see `freeze`. */
  | 'silent'

/**
 * A proxy between a program and a server. Its address can be led to another server. Its connections can be
 * cut, at random or at a statement, or stop carrying anything without being closed.
 */
export class TcpProxy {
  /** How often connections were cut at something that was sent. */
  readonly cuts: Record<Cut, number> = { before: 0, after: 0, silent: 0 }
  /** Called for each piece that a client sends, with its connection: whether that is cut there. */
  cutAt: (sent: string, connection: object) => Cut | null = () => null
  /** How long everything is on its way, in each direction; milliseconds. */
  delayMs = 0
  private readonly pairs = new Set<{ client: Socket; server: Socket }>()
  private isFrozen = false

  private constructor(
    private readonly listener: Server,
    public target: number,
  ) {}

  /** @param target the port of the server, on this machine; may be changed later */
  static open(target: number): Promise<TcpProxy> {
    const { promise, resolve } = Promise.withResolvers<TcpProxy>()
    const listener = createServer({ noDelay: true })
    const proxy = new TcpProxy(listener, target)
    listener.on('connection', client => proxy.take(client))
    listener.listen(0, '127.0.0.1', () => resolve(proxy))
    return promise
  }

  get port(): number {
    return (this.listener.address() as { port: number }).port
  }

  /** The same address through this proxy. */
  through(url: string): string {
    const address = new URL(url)
    address.port = String(this.port)
    return address.href
  }

  /** Leads new connections to another server, and cuts existing ones. */
  lead(target: number): void {
    this.target = target
    this.cutAll()
  }

  /** Closes all connections. */
  cutAll(): void {
    for (const pair of [...this.pairs]) this.cut(pair)
  }

  /** Lets nothing through any more, as though a cable were unplugged. */
  freeze(): void {
    this.isFrozen = true
  }

  /** Lets data through again; connections from before are closed at both ends. */
  thaw(): void {
    this.isFrozen = false
    for (const pair of [...this.pairs]) this.cut(pair)
  }

  async close(): Promise<void> {
    this.cutAll()
    const { promise, resolve } = Promise.withResolvers<void>()
    this.listener.close(() => resolve())
    await promise
  }

  private take(client: Socket): void {
    const server = connect({ port: this.target, host: '127.0.0.1', noDelay: true })
    const pair = { client, server }
    this.pairs.add(pair)
    let isAnswerLost = false
    client.on('data', chunk => {
      if (this.isFrozen || isAnswerLost) return
      const cut = this.cutAt(chunk.toString('latin1'), pair)
      if (cut) this.cuts[cut]++
      if (cut === 'before') return this.cut(pair)
      this.deliver(server, chunk)
      if (cut === 'after') isAnswerLost = true
      if (cut === 'silent') this.freeze()
    })
    server.on('data', chunk => {
      if (this.isFrozen) return
      if (isAnswerLost) this.cut(pair)
      else this.deliver(client, chunk)
    })
    for (const socket of [client, server]) {
      socket.on('error', () => {})
      socket.on('close', () => {
        if (!this.isFrozen) this.cut(pair)
      })
    }
  }

  private deliver(to: Socket, chunk: string | Uint8Array): void {
    if (this.delayMs === 0) to.write(chunk)
    else setTimeout(() => to.write(chunk), this.delayMs)
  }

  private cut(pair: { client: Socket; server: Socket }): void {
    this.pairs.delete(pair)
    pair.client.destroy()
    pair.server.destroy()
  }
}

/** The statement that commits a transaction, as the client sends it. */
export const isCommit = (sent: string): boolean => sent.includes('COMMIT')

/** Cuts once, at the commit of a transaction in which a text was sent. */
export function cutAtCommitOf(text: string, how: Cut): TcpProxy['cutAt'] {
  let meant: object | null = null
  let isDone = false
  return (sent, connection) => {
    if (isDone) return null
    if (sent.includes(text)) meant = connection
    if (meant !== connection || !isCommit(sent)) return null
    isDone = true
    return how
  }
}
