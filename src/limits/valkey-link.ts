import { inTime } from '../scheduling/in-time.ts'

/** How long a new connection may take until it is usable, milliseconds. */
const connectsWithinMs = 1_000

/** The pause before another connection is tried, milliseconds. */
const pauseMs = 1_000

/** What a script is called with. */
export interface Call {
  keys: readonly string[]
  args: readonly string[]
}

/** What all calls run. */
export interface Script {
  text: string
  /** A call that writes something and leaves nothing behind, to find out whether the server is usable. */
  probe(): Call
}

/** Called when the server cannot be reached, and when it can again. */
export interface LinkObserver {
  onAway(reason: string): void
  onBack(): void
}

const isClosed = (error: unknown) =>
  (error as { code?: string } | undefined)?.code === 'ERR_REDIS_CONNECTION_CLOSED'

/** Has a connected client load the script and run it once. @returns the name by which to call it */
export async function prepare(client: Bun.RedisClient, { text, probe }: Script): Promise<string> {
  const sha = String(await client.send('SCRIPT', ['LOAD', text]))
  await client.send('EVALSHA', evaluated(sha, probe()))
  return sha
}

const evaluated = (script: string, { keys, args }: Call) => [
  script,
  String(keys.length),
  ...keys,
  ...args,
]

/** A connection that has run the script once. */
class Connection {
  hasAnswered = false

  constructor(
    readonly client: Bun.RedisClient,
    readonly sha: string,
  ) {}
}

/**
 * The link to a Valkey or Redis server. While the server is away, nothing waits for it. The client never
 * times out an answer, and gives up for good after some attempts to connect. So a connection that is late or
 * broken is closed here, and another one is tried after a pause.
 */
export class ValkeyLink {
  private connection: Connection | null = null
  private retrying: ReturnType<typeof setTimeout> | null = null
  private isClosed = false

  /** @param patienceMs how long a request waits for an answer, or twice as long if it is unlucky */
  constructor(
    private readonly url: string,
    private readonly script: Script,
    private readonly patienceMs: number,
    private readonly observer: LinkObserver,
  ) {}

  /** Resolves once it is known whether the server is there. */
  async open(): Promise<void> {
    const client = new Bun.RedisClient(this.url, {
      connectionTimeout: connectsWithinMs,
      autoReconnect: false,
      enableOfflineQueue: false,
    })
    try {
      await inTime(client.connect(), Math.max(connectsWithinMs, this.patienceMs))
      const sha = await inTime(prepare(client, this.script), this.patienceMs)
      if (this.isClosed) return client.close()
      const connection = new Connection(client, sha)
      client.onclose = error => this.lose(connection, error)
      this.connection = connection
      this.observer.onBack()
    } catch (error) {
      client.close()
      this.away(error)
    }
  }

  get isThere(): boolean {
    return this.connection !== null
  }

  /**
   * Runs the script.
   *
   * @throws if there is no answer, or if it is an error; the link is away from then on
   */
  async call(call: Call): Promise<unknown> {
    const { connection } = this
    if (connection === null) throw new Error('away')
    try {
      const answer = await inTime(this.evaluate(connection, call), this.patienceMs)
      connection.hasAnswered = true
      return answer
    } catch (error) {
      this.lose(connection, error)
      throw error
    }
  }

  private async evaluate({ client, sha }: Connection, call: Call): Promise<unknown> {
    try {
      return await client.send('EVALSHA', evaluated(sha, call))
    } catch (error) {
      // Somebody has emptied the server's script cache.
      if (!(error as Error).message.startsWith('NOSCRIPT ')) throw error
      return client.send('EVAL', evaluated(this.script.text, call))
    }
  }

  close(): void {
    this.isClosed = true
    if (this.retrying) clearTimeout(this.retrying)
    const { connection } = this
    this.connection = null
    connection?.client.close()
  }

  /** Calls that still wait for an answer fail with the connection. */
  private lose(connection: Connection, error: unknown): void {
    if (connection !== this.connection) return
    this.connection = null
    connection.client.close()
    // A server closes a connection that nobody has used for long. That is no fault, because the server is
    // still there.
    if (isClosed(error) && connection.hasAnswered) {
      this.open()
      return
    }
    this.away(error)
  }

  private away(error: unknown): void {
    if (this.isClosed) return
    this.observer.onAway(error instanceof Error ? error.message : String(error))
    this.retrying = setTimeout(() => this.open(), pauseMs)
  }
}
