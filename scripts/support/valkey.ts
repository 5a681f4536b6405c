import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { RedisClient } from 'bun'
import { dependent } from './dependent.ts'
import { freePort } from './ports.ts'
import { until } from './until.ts'

/** The program on this machine; null if there is none. */
export const valkeyProgram = Bun.which('valkey-server') ?? Bun.which('redis-server')

/** A server for one test file, which stores nothing. */
export class Valkey {
  private child: Bun.Subprocess | null = null
  private readonly folder = mkdtempSync(join(tmpdir(), 'cairn-valkey-'))

  private constructor(
    readonly port: number,
    private readonly password: string | null,
    private readonly args: readonly string[],
  ) {}

  /** @param args as its command line takes them */
  static async open(...args: string[]): Promise<Valkey> {
    const at = args.indexOf('--requirepass')
    const password = at < 0 ? null : args[at + 1]!
    const others = at < 0 ? args : args.toSpliced(at, 2)
    const valkey = new Valkey(await freePort(), password, others)
    await valkey.start()
    return valkey
  }

  get url(): string {
    const credential = this.password === null ? '' : `:${encodeURIComponent(this.password)}@`
    return `redis://${credential}127.0.0.1:${this.port}`
  }

  async start(): Promise<void> {
    const place = ['--port', `${this.port}`, '--bind', '127.0.0.1', '--dir', this.folder]
    // `-` makes it read more from its standard input, because arguments are visible to everybody.
    const more = this.password === null ? '' : `requirepass "${this.password}"\n`
    this.child = dependent([valkeyProgram!, '-', ...place, '--save', '', ...this.args], {
      stdin: Buffer.from(more),
    })
    await until(() =>
      this.ask('PING').then(
        () => true,
        () => false,
      ),
    )
  }

  /** Asks over a connection of its own. */
  async ask(command: string, ...args: string[]): Promise<unknown> {
    const client = new RedisClient(this.url, { autoReconnect: false, enableOfflineQueue: false })
    try {
      await client.connect()
      return await client.send(command, args)
    } finally {
      client.close()
    }
  }

  /** How many requests it has counted or rejected. */
  async counts(): Promise<number> {
    const info = String(await this.ask('INFO', 'commandstats'))
    return Number(/cmdstat_evalsha:calls=(\d+)/.exec(info)?.[1] ?? 0)
  }

  signal(name: 'SIGSTOP' | 'SIGCONT'): void {
    this.child?.kill(name)
  }

  async kill(): Promise<void> {
    this.child?.kill('SIGKILL')
    await this.child?.exited
  }

  async close(): Promise<void> {
    await this.kill()
    rmSync(this.folder, { recursive: true, force: true })
  }
}
