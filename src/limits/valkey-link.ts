import { RedisClient } from 'bun'

/** How long a new connection may take to be of use, milliseconds. */
const connectsWithinMs = 1_000

/** The pause before another is tried; doubled, up to the longest, after one that soon failed at work. */
const firstPauseMs = 1_000
const longestPauseMs = 30_000
/** A connection that was of use for so long has not failed for the same reason as the one before. */
const stableAfterMs = 10_000

/** A timer that is later than this was held up by this thread, which may not have read the answers yet. */
const heldUpMs = 20
/** How often in a row that excuses a missing answer. */
const mostExcuses = 5

/** What a script is called with. */
export interface Call {
  keys: readonly string[]
  args: readonly string[]
}

/** What all calls run. */
export interface Script {
  text: string
  /** A call that writes something, and leaves nothing behind: whether the server is of use. */
  probe(): Call
}

/** Who is told that the server is away, and that it is back. */
export interface LinkObserver {
  onAway(reason: string): void
  onBack(): void
}

const isClosed = (error: unknown) =>
  (error as { code?: string } | undefined)?.code === 'ERR_REDIS_CONNECTION_CLOSED'

/** Has a client that is connected run the script once, and answers by what name. */
export async function prepare(client: RedisClient, { text, probe }: Script): Promise<string> {
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
  readonly since = performance.now()

  constructor(
    readonly client: RedisClient,
    readonly sha: string,
  ) {}
}

/**
 * The way to a Valkey or Redis server, which may be away: then nothing waits for it. The client has no
 * limit of its own for how long an answer takes, and gives up for good after some attempts to connect; so
 * a connection that is late or broken is closed here, and another one is tried after a pause.
 */
export class ValkeyLink {
  private connection: Connection | null = null
  private retrying: ReturnType<typeof setTimeout> | null = null
  private pauseMs = firstPauseMs
  private isClosed = false

  /** @param patienceMs a request waits so long for an answer, and twice as long where it is unlucky */
  constructor(
    private readonly url: string,
    private readonly script: Script,
    private readonly patienceMs: number,
    private readonly observer: LinkObserver,
  ) {}

  /** Resolves once it is known whether the server is there. */
  async open(): Promise<void> {
    const client = new RedisClient(this.url, {
      connectionTimeout: connectsWithinMs,
      autoReconnect: false,
      enableOfflineQueue: false,
    })
    try {
      await inTime(Math.max(connectsWithinMs, this.patienceMs), client.connect())
      const sha = await inTime(this.patienceMs, prepare(client, this.script))
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
   * @throws where there is no answer, or one that says no; the link is away from then on
   */
  async call(call: Call): Promise<unknown> {
    const { connection } = this
    if (connection === null) throw new Error('away')
    try {
      const answer = await inTime(this.patienceMs, this.evaluate(connection, call))
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
      // Somebody has emptied the server's memory of scripts.
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

  /** What is still waited for fails with it. */
  private lose(connection: Connection, error: unknown): void {
    if (connection !== this.connection) return
    this.connection = null
    connection.client.close()
    // A server closes what nobody has used for long, which is no fault: it is there all the same.
    if (isClosed(error) && connection.hasAnswered) {
      this.open()
      return
    }
    if (performance.now() - connection.since >= stableAfterMs) this.pauseMs = firstPauseMs
    this.away(error, this.pauseMs)
    this.pauseMs = Math.min(this.pauseMs * 2, longestPauseMs)
  }

  private away(error: unknown, pauseMs = firstPauseMs): void {
    if (this.isClosed) return
    this.observer.onAway(error instanceof Error ? error.message : String(error))
    this.retrying = setTimeout(() => this.open(), pauseMs)
  }
}

/**
 * An answer that is waited for no longer than so many milliseconds, unless this thread was too busy to read
 * it in time.
 *
 * @throws where it takes longer
 */
export function inTime<T>(ms: number, answer: Promise<T>): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  let timer: ReturnType<typeof setTimeout> | null = null
  const watch = (excuses: number) => {
    const dueAt = performance.now() + ms
    timer = setTimeout(() => {
      const isHeldUp = performance.now() - dueAt > heldUpMs
      // What has come meanwhile is read first.
      setImmediate(() => {
        if (timer === null) return
        if (isHeldUp && excuses < mostExcuses) watch(excuses + 1)
        else reject(new Error(`no answer within ${ms} ms`))
      })
    }, ms)
  }
  watch(0)
  const stop = () => {
    if (timer !== null) clearTimeout(timer)
    timer = null
  }
  answer.then(resolve, reject).then(stop)
  return promise
}
