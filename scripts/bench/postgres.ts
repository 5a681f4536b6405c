import { chmodSync, existsSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { familyCpuMsOf } from '../support/process.ts'
import { until } from '../support/until.ts'
import { endedWithBench, type Folder } from './programs.ts'

/** PostgreSQL refuses to run as root; then it runs as the user that Debian's package has made. */
const runner =
  process.getuid?.() === 0
    ? ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups']
    : []

/** The superuser of the cluster, and the address on which it listens. */
const user = 'bench'
const host = '127.0.0.1'

/**
 * The folder of PostgreSQL's programs: Debian's newest, which is not on the PATH, otherwise the one that is.
 *
 * @throws Error if there is none
 */
export function postgresPrograms(): string {
  const debians = new Bun.Glob('/usr/lib/postgresql/*/bin/postgres').scanSync('/')
  const newest = [...debians].toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true })).at(-1)
  const found = newest ?? Bun.which('postgres')
  if (!found) throw new Error('there is no PostgreSQL')
  return dirname(found)
}

/**
 * A cluster as `initdb` makes it, except for the size of its log. It is reached over TCP on a free port of this
 * machine, as a remote one is.
 */
export class Postgres {
  private constructor(
    private readonly port: number,
    private readonly programs: string,
    private readonly child: Bun.Subprocess,
  ) {}

  /** Whether a folder has one. */
  static isIn(folder: Folder): boolean {
    return existsSync(join(folder.path, 'postgres'))
  }

  /** Starts the cluster of a folder, which is made if there is none, and waits until it answers. */
  static async start(folder: Folder): Promise<Postgres> {
    const programs = postgresPrograms()
    const directory = join(folder.path, 'postgres')
    if (!existsSync(directory)) {
      mkdirSync(directory)
      // Its user has to be able to enter the folder.
      chmodSync(folder.path, 0o711)
      if (runner.length > 0) run('chown', 'postgres', directory)
      run(...runner, join(programs, 'initdb'), '-D', directory, '-U', user, '-A', 'trust', '-N')
    }
    const port = freePort()
    const settings = {
      listen_addresses: host,
      port,
      unix_socket_directories: '',
      // So that it leaves nothing behind in /dev/shm when it is killed.
      dynamic_shared_memory_type: 'mmap',
      // As the manual says. With the default of a gigabyte, each touched page goes into the log every few seconds.
      max_wal_size: '16GB',
    }
    const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const command = [...runner, join(programs, 'postgres'), '-D', directory, ...flags]
    // Into a file: it logs more than a pipe holds that nobody reads, and would then wait for a reader.
    const log = Bun.file(join(folder.path, 'postgres.log'))
    const child = Bun.spawn(command, { cwd: folder.path, env: {}, stdout: log, stderr: log })
    const postgres = new Postgres(port, programs, endedWithBench(child))
    const isReady = [join(programs, 'pg_isready'), '-h', host, '-p', `${port}`]
    await until(() => Bun.spawnSync(isReady).success)
    return postgres
  }

  /** The address of its database. */
  get url(): string {
    return `postgres://${user}@${host}:${this.port}/postgres`
  }

  /** The CPU of all of its processes. */
  cpuMicros(): number {
    return familyCpuMsOf(this.child.pid) * 1_000
  }

  /** The one value that a query returns. */
  value(query: string): string {
    return run(join(this.programs, 'psql'), this.url, '-Atc', query).trim()
  }

  /** Ends it at once, as a crash would. What it has acknowledged must still be there. */
  async end(): Promise<void> {
    this.child.kill('SIGQUIT')
    await this.child.exited
  }
}

function freePort(): number {
  const listener = Bun.listen({ hostname: host, port: 0, socket: { data() {} } })
  listener.stop()
  return listener.port
}

function run(...command: string[]): string {
  const { success, stdout, stderr } = Bun.spawnSync(command, { cwd: '/' })
  if (!success) throw new Error(`${command.join(' ')}: ${stderr}`)
  return stdout.toString()
}
