import { RedisClient } from 'bun'

/** A request waits so long for an answer, and twice as long where it is unlucky; milliseconds. */
export const patienceMs = 100

/** How long a new connection may take to be of use, and the pause before another is tried. */
const connectsWithinMs = 1_000
const retryMs = 1_000

/** Who is told that the server is away, and that it is back. */
export interface LinkObserver {
  onAway(reason: string): void
  onBack(): void
}

/** An answer that says no; anything else that fails is the connection. */
const isAnswer = (error: unknown, code: string) =>
  error instanceof Error && error.message.startsWith(`${code} `)

const late = () => new Error(`no answer within ${patienceMs} ms`)

/** One connection, and how many of its questions were answered. */
class Connection {
  asked = 0
  answered = 0

  constructor(readonly client: RedisClient) {}
}

/**
 * The way to a Valkey or Redis server, which may be away: then nothing waits for it. The client has no
 * limit of its own for how long an answer takes, and gives up for good after some attempts to connect; so
 * a connection that is late or broken is closed here, and another one is tried each second.
 */
export class ValkeyLink {
  private connection: Connection | null = null
  private watching: ReturnType<typeof setTimeout> | null = null
  private retrying: ReturnType<typeof setTimeout> | null = null
  private isClosed = false
  private sha = ''

  /** @param script what all calls of `call` run */
  constructor(
    private readonly url: string,
    private readonly script: string,
    private readonly observer: LinkObserver,
  ) {}

  /** Resolves once it is known whether the server is there. */
  async open(): Promise<void> {
    const client = new RedisClient(this.url, {
      connectionTimeout: connectsWithinMs,
      autoReconnect: false,
      enableOfflineQueue: false,
    })
    const connection = new Connection(client)
    try {
      this.sha = await within(connectsWithinMs, this.prepare(client))
      client.onclose = error => this.lose(connection, error)
    } catch (error) {
      client.close()
      return this.away(error)
    }
    if (this.isClosed) return client.close()
    this.connection = connection
    this.observer.onBack()
  }

  get isThere(): boolean {
    return this.connection !== null
  }

  /**
   * Runs the script.
   *
   * @throws where there is no answer, or one that says no; the link is away from then on
   */
  async call(key: string, ...args: string[]): Promise<unknown> {
    const { connection } = this
    if (connection === null) throw new Error('away')
    connection.asked++
    this.watch(connection)
    try {
      const { client } = connection
      try {
        return await client.send('EVALSHA', [this.sha, '1', key, ...args])
      } catch (error) {
        // Somebody has emptied the server's memory of scripts.
        if (!isAnswer(error, 'NOSCRIPT')) throw error
        return await client.send('EVAL', [this.script, '1', key, ...args])
      }
    } catch (error) {
      this.lose(connection, error)
      throw error
    } finally {
      connection.answered++
    }
  }

  close(): void {
    this.isClosed = true
    if (this.watching) clearTimeout(this.watching)
    if (this.retrying) clearTimeout(this.retrying)
    const { connection } = this
    this.connection = null
    connection?.client.close()
  }

  private async prepare(client: RedisClient): Promise<string> {
    await client.connect()
    return String(await client.send('SCRIPT', ['LOAD', this.script]))
  }

  /** One timer for all that is asked meanwhile: answers come in the order of the questions. */
  private watch(connection: Connection): void {
    if (this.watching) return
    const { asked } = connection
    this.watching = setTimeout(() => {
      // What has come while this thread was busy is read first.
      setImmediate(() => {
        this.watching = null
        if (connection !== this.connection) return
        if (connection.answered < asked) this.lose(connection, late())
        else if (connection.answered < connection.asked) this.watch(connection)
      })
    }, patienceMs)
  }

  /** What is still waited for fails with it. */
  private lose(connection: Connection, error: unknown): void {
    if (connection !== this.connection) return
    this.connection = null
    connection.client.close()
    this.away(error)
  }

  private away(error: unknown): void {
    if (this.isClosed) return
    this.observer.onAway(error instanceof Error ? error.message : String(error))
    this.retrying = setTimeout(() => this.open(), retryMs)
  }
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`no connection within ${ms} ms`)), ms)
  work.catch(() => {})
  try {
    return await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
  }
}
