import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { dependent } from './dependent.ts'
import { freePort } from './ports.ts'
import { until } from './until.ts'

/** The program on this machine, which is not in everybody's PATH; null if there is none. */
export const pgbouncerProgram = Bun.which('pgbouncer') ?? Bun.which('/usr/sbin/pgbouncer')

/** PgBouncer refuses to run as root. */
const asNobody =
  process.getuid?.() === 0 ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : []

/** A PgBouncer in transaction mode, in front of a PostgreSQL on this machine that asks for no password. */
export class Pgbouncer {
  private constructor(
    readonly port: number,
    private readonly folder: string,
    private readonly child: Bun.Subprocess,
  ) {}

  /**
   * @param target the port of PostgreSQL
   * @param poolSize connections to it, which all clients of a database share
   */
  static async open(target: number, poolSize = 10): Promise<Pgbouncer> {
    const folder = mkdtempSync(join(tmpdir(), 'cairn-pgbouncer-'))
    const port = await freePort()
    const [settings, log] = [join(folder, 'pgbouncer.ini'), join(folder, 'log')]
    const lines = [
      '[databases]',
      `* = host=127.0.0.1 port=${target} user=cairn`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = any',
      'pool_mode = transaction',
      'max_client_conn = 1000',
      `default_pool_size = ${poolSize}`,
      // Each test's database has its own connections, and PostgreSQL takes only a hundred.
      'server_idle_timeout = 5',
      // A server that was away is retried as soon as somebody asks.
      'server_login_retry = 0',
    ]
    writeFileSync(settings, `${lines.join('\n')}\n`, { mode: 0o644 })
    Bun.spawnSync(['chmod', '755', folder])
    const child = dependent([...asNobody, pgbouncerProgram!, settings], { log })
    await until(() => {
      const output = readFileSync(log, 'utf8')
      if (child.exitCode !== null) throw new Error(`PgBouncer does not start: ${output}`)
      return output.includes('process up')
    })
    return new Pgbouncer(port, folder, child)
  }

  /** The same address through PgBouncer, as it is given to a node. */
  through(url: string): string {
    const address = new URL(url)
    address.port = String(this.port)
    address.searchParams.set('pooler', 'transaction')
    return address.href
  }

  async close(): Promise<void> {
    this.child.kill('SIGKILL')
    await this.child.exited
    rmSync(this.folder, { recursive: true, force: true })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
