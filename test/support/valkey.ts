import { test as anyTest } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { RedisClient } from 'bun'
import { until } from '../../scripts/support/until.ts'
import { freePort } from './identity-provider.ts'

const program = Bun.which('valkey-server') ?? Bun.which('redis-server')

/** A test that needs Valkey or Redis; skipped where there is none. */
export const test = program === null ? (anyTest.skip as typeof anyTest) : anyTest

/** A server of one test file's own, which stores nothing. */
export class Valkey {
  private child: Bun.Subprocess | null = null
  private readonly folder = mkdtempSync(join(tmpdir(), 'cairn-valkey-'))

  private constructor(
    readonly port: number,
    private readonly password: string | null,
    private readonly args: readonly string[],
  ) {}

  static async open(...args: string[]): Promise<Valkey> {
    const at = args.indexOf('--requirepass')
    const valkey = new Valkey(await freePort(), at < 0 ? null : args[at + 1]!, args)
    await valkey.start()
    return valkey
  }

  get url(): string {
    return `redis://${this.password === null ? '' : `:${this.password}@`}127.0.0.1:${this.port}`
  }

  async start(): Promise<void> {
    const own = [
      '--port',
      String(this.port),
      '--bind',
      '127.0.0.1',
      '--save',
      '',
      '--dir',
      this.folder,
    ]
    this.child = Bun.spawn([program!, ...own, ...this.args], { stdout: 'ignore', stderr: 'ignore' })
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

  /** How many requests it has counted or refused. */
  async counts(): Promise<number> {
    const told = String(await this.ask('INFO', 'commandstats'))
    return Number(/cmdstat_evalsha:calls=(\d+)/.exec(told)?.[1] ?? 0)
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
