import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Postgres } from '../../src/storage/log/postgres/connection.ts'
import { setUpLog } from '../../src/storage/log/postgres/open.ts'
import { freePort } from './ports.ts'
import { until } from './until.ts'

/** The oldest release that Cairn works with. */
const minMajor = 15

/** Where Debian keeps each release's programs, which are not in PATH. */
const debian = '/usr/lib/postgresql'

/** The folder that is named, or that of the newest PostgreSQL's programs; null if Cairn works with none. */
function findPrograms(): string | null {
  const named = process.env.CAIRN_TEST_POSTGRES
  if (named) return named
  const majors = existsSync(debian) ? readdirSync(debian).map(Number) : []
  const newest = majors
    .filter(major => major >= minMajor && existsSync(`${debian}/${major}/bin/initdb`))
    .sort((a, b) => b - a)[0]
  if (newest !== undefined) return `${debian}/${newest}/bin`
  const inPath = Bun.which('pg_ctl')
  return inPath && dirname(realpathSync(inPath))
}

/** The folder of the PostgreSQL programs that are used here; null if there is none. */
export const postgresPrograms = findPrograms()

/** PostgreSQL refuses to run as root, so root runs it as this user; null for anybody else. */
const lesser = process.getuid?.() === 0 ? userOf('postgres', 'nobody') : null

/** The first of these users that exists. */
function userOf(...names: string[]) {
  const idOf = (which: string, name: string) => Bun.spawnSync(['id', which, name])
  const name = names.find(one => idOf('-u', one).success)!
  const [uid, gid] = ['-u', '-g'].map(which => Number(idOf(which, name).stdout.toString()))
  return { uid: uid!, gid: gid! }
}

/** Put before a command, runs it as that user. */
const asLesser =
  lesser === null
    ? []
    : ['setpriv', `--reuid=${lesser.uid}`, `--regid=${lesser.gid}`, '--clear-groups']

/** Gives a file to the user that the server runs as. */
function hand(path: string): void {
  if (lesser !== null) chownSync(path, lesser.uid, lesser.gid)
}

/**
 * Ends a server whose test is gone, by Ctrl-C or killed: then its standard input ends. It checks
 * the process, because the number in the file may be another one's by now. Its second argument says whether the
 * data is kept.
 */
const caretaker = `trap '' HUP INT TERM
cat >/dev/null
pid=$(head -n 1 "$0/data/postmaster.pid" 2>/dev/null) || pid=none
if grep -qsF "$0" "/proc/$pid/cmdline" || ps -o args= -p "$pid" 2>/dev/null | grep -qF "$0"; then
  kill -QUIT "$pid"
  kill -CONT "$pid"
  for i in 1 2 3 4 5 6 7 8 9; do kill -0 "$pid" 2>/dev/null && sleep 1; done
fi
[ "$1" = kept ] || rm -rf "$0"`

/** The user that owns everything; a superuser, who needs no password. */
const owner = 'cairn'

/** Where a server is, and how it is set up. */
interface PostgresOptions {
  /** As in a configuration file, such as `fsync=on`, without which commits are not synced. */
  settings?: readonly string[]
  /** The server's own folder, which outlives it. By default a new one, which does not. */
  folder?: string | undefined
  /** The password that clients have to give; none by default. */
  password?: string | undefined
}

/**
 * A PostgreSQL server for one test file or kit, on a free port of this machine. Making one takes about a second,
 * so it is best if tests share it, each with a database of its own.
 */
export class PostgresServer {
  readonly folder: string
  readonly dataFolder: string
  private readonly isKept: boolean
  private readonly caretaker: Bun.Subprocess<'pipe'>
  private child: Bun.Subprocess | null = null
  private databases = 0

  private constructor(
    readonly port: number,
    private readonly options: PostgresOptions,
    private readonly settings: readonly string[] = options.settings ?? [],
  ) {
    this.isKept = options.folder !== undefined
    this.folder = options.folder ?? mkdtempSync(join(tmpdir(), 'cairn-postgres-'))
    this.dataFolder = join(this.folder, 'data')
    mkdirSync(this.folder, { recursive: true })
    const kept = this.isKept ? 'kept' : 'not kept'
    this.caretaker = Bun.spawn(['sh', '-c', caretaker, this.folder, kept], {
      stdin: 'pipe',
      detached: true,
    })
    hand(this.folder)
  }

  /** @param settings as in a configuration file, such as `fsync=on` for a test that takes its disk away */
  static open(...settings: string[]): Promise<PostgresServer> {
    return PostgresServer.with({ settings })
  }

  /** The same with more options. If the folder has data, the server goes on with it. */
  static async with(options: PostgresOptions): Promise<PostgresServer> {
    const server = new PostgresServer(await freePort(), options)
    if (!server.hasData) await server.initialise()
    await server.start()
    return server
  }

  /**
   * Starts a server that follows this one.
   *
   * @param name by which this one's commits can wait for it: see `waitFor`
   */
  async standby(name: string, options: PostgresOptions = {}): Promise<PostgresServer> {
    const connection = [
      ...['host=127.0.0.1', `port=${this.port}`, `user=${owner}`, `application_name=${name}`],
      ...(this.options.password === undefined ? [] : [`passfile=${this.passFile}`]),
    ].join(' ')
    const settings = [...(options.settings ?? []), `primary_conninfo=${connection}`]
    const { password } = this.options
    const server = new PostgresServer(await freePort(), { ...options, password }, settings)
    if (!server.hasData) {
      // `-R` makes it a standby. Each start names its primary.
      const how = ['-R', '-X', 'stream', '-c', 'fast', '--no-sync', '-d', connection]
      await run(this.asOwner('pg_basebackup', '-D', server.dataFolder, ...how))
    }
    await server.start()
    return server
  }

  /** Makes commits wait for one of these standbys from now on. */
  async waitFor(...standbys: string[]): Promise<void> {
    await this.ask(`alter system set synchronous_standby_names = 'ANY 1 (${standbys.join(', ')})'`)
    await this.reloadStandbys()
    const isStreaming = `select from pg_stat_replication where sync_state = 'quorum'`
    await until(async () => (await this.ask(isStreaming)).length > 0)
  }

  private get hasData(): boolean {
    return existsSync(join(this.dataFolder, 'PG_VERSION'))
  }

  /** The file in which clients of this user find the password. */
  private get passFile(): string {
    return join(this.folder, 'password')
  }

  private async initialise(): Promise<void> {
    const { password } = this.options
    const how = ['--locale=C', '--encoding=UTF8', '--no-sync', '--no-instructions', '-U', owner]
    if (password === undefined) how.push('--auth=trust')
    else {
      const given = join(this.folder, 'given')
      for (const [file, text] of [
        [given, password],
        [this.passFile, `*:*:*:*:${password}`],
      ] as const) {
        writeFileSync(file, `${text}\n`, { mode: 0o600 })
        hand(file)
      }
      how.push('--auth=scram-sha-256', `--pwfile=${given}`)
    }
    await run(this.asOwner('initdb', '-D', this.dataFolder, ...how))
  }

  private asOwner(program: string, ...args: string[]): string[] {
    return [...asLesser, join(postgresPrograms!, program), ...args]
  }

  /** The address of a database. */
  url(database = 'postgres', user = owner, password = this.options.password ?? ''): string {
    const credential = password === '' ? user : `${user}:${encodeURIComponent(password)}`
    return `postgres://${credential}@127.0.0.1:${this.port}/${database}`
  }

  /** Makes a database in which the log is set up, and returns its address. */
  async newDatabase(): Promise<string> {
    const url = await this.emptyDatabase()
    const postgres = Postgres.open(url, { most: 1 })
    await setUpLog(postgres).finally(() => postgres.close())
    return url
  }

  /** Makes a database with nothing in it, and returns its address. */
  async emptyDatabase(how = '', name = `world_${++this.databases}`): Promise<string> {
    await this.ask(`create database ${name} ${how}`)
    return this.url(name)
  }

  /** Runs a query over a connection of its own. */
  async ask<Row>(text: string, url = this.url()): Promise<Row[]> {
    const postgres = Postgres.open(url, { most: 1 })
    try {
      return [...(await postgres.all<Row>(text))]
    } finally {
      await postgres.close()
    }
  }

  /** Starts it, also after a kill, and waits until it accepts clients. */
  async start(): Promise<void> {
    const fixed = {
      listen_addresses: '127.0.0.1',
      port: this.port,
      unix_socket_directories: '',
      max_connections: 500,
      shared_buffers: '32MB',
      fsync: 'off',
    }
    const own = Object.entries(fixed).map(([name, value]) => `${name}=${value}`)
    const args = [...own, ...this.settings].flatMap(setting => ['-c', setting])
    await until(async () => {
      const log = Bun.file(join(this.folder, 'log'))
      const child = Bun.spawn(this.asOwner('postgres', '-D', this.dataFolder, ...args), {
        stdout: log,
        stderr: log,
        // Ctrl-C is only for the process that started it, which has others to stop first.
        detached: true,
      })
      this.child = child
      await until(() => child.exitCode !== null || this.isReady)
      if (child.exitCode === null) return true
      const output = await log.text()
      // The remains of a killed server go away by themselves, but not at once.
      if (/shared memory block/.test(output)) return false
      throw new Error(`PostgreSQL does not start: ${output}`)
    })
  }

  /** Whether its file says that it accepts clients; pg_ctl looks there too. */
  private get isReady(): boolean {
    try {
      const lines = readFileSync(join(this.dataFolder, 'postmaster.pid'), 'utf8').split('\n')
      return Number(lines[0]) === this.child?.pid && /^(ready|standby)/.test(lines[7] ?? '')
    } catch {
      return false
    }
  }

  /** The server and the processes of its clients, which are in process groups of their own. */
  private get processes(): number[] {
    if (this.child === null || this.child.exitCode !== null) return []
    const { pid } = this.child
    try {
      const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
      return [pid, ...children.split(' ').filter(Boolean).map(Number)]
    } catch {
      return [pid]
    }
  }

  /** Sends a signal to all of its processes; `SIGSTOP` stands for a machine that has gone away. */
  signal(name: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'): void {
    for (const pid of this.processes) {
      try {
        process.kill(pid, name)
      } catch {
        // The process has ended meanwhile.
      }
    }
  }

  /** Ends it at once, like a power failure that spares the disk's cache. */
  async kill(): Promise<void> {
    this.signal('SIGKILL')
    await this.child?.exited
  }

  /** Ends it in an orderly way, but cuts off its clients. */
  async stop(): Promise<void> {
    this.child?.kill('SIGINT')
    await this.child?.exited
  }

  /** Writes a file of its data folder, readable only by it, such as `pg_hba.conf` or `standby.signal`. */
  write(name: string, text: string): void {
    const path = join(this.dataFolder, name)
    writeFileSync(path, text, { mode: 0o600 })
    hand(path)
  }

  /** A file of its data folder. */
  read(name: string): string {
    return readFileSync(join(this.dataFolder, name), 'utf8')
  }

  /** Runs a shell script as the server's user, with its programs in the PATH. @throws Error if it fails */
  runScript(script: string, env: Record<string, string>): Promise<void> {
    const path = `${postgresPrograms}:${process.env.PATH}`
    return run([...asLesser, 'sh', '-c', script], { ...env, PATH: path })
  }

  /** Makes it read its configuration files again. */
  async reload(): Promise<void> {
    await this.ask('select pg_reload_conf()')
  }

  /** The same. When this resolves, commits already wait for standbys, or no longer do. */
  async reloadStandbys(): Promise<void> {
    const loadedAt = async () => {
      const [loaded] = await this.ask<{ at: number }>(
        'select extract(epoch from pg_conf_load_time())::float8 as at',
      )
      return loaded!.at
    }
    const before = await loadedAt()
    await this.reload()
    await until(async () => (await loadedAt()) > before)
    // The checkpointer tells all other processes before it does this.
    await this.ask('checkpoint')
  }

  async close(): Promise<void> {
    if (this.isKept) await this.stop()
    else {
      await this.kill()
      rmSync(this.folder, { recursive: true, force: true })
    }
    this.caretaker.stdin.end()
    await this.caretaker.exited
  }
}

async function run(command: string[], env = process.env): Promise<void> {
  const child = Bun.spawn(command, { env, cwd: '/', stdout: 'ignore', stderr: 'pipe' })
  const output = await new Response(child.stderr).text()
  if ((await child.exited) !== 0) throw new Error(`${command.join(' ')} failed: ${output}`)
}
