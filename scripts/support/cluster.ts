import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Workplace } from './binary.ts'
import { dependent } from './dependent.ts'
import type { Finished } from './finished.ts'
import { Haproxy, haproxyProgram, type Ports } from './haproxy.ts'
import { freePort } from './ports.ts'
import { PostgresServer, postgresPrograms } from './postgres.ts'
import { until } from './until.ts'
import { Valkey, valkeyProgram } from './valkey.ts'

/** Debian packages that a cluster needs and this machine does not have. */
export const missingPackages = (): string[] => [
  ...(postgresPrograms === null ? ['postgresql'] : []),
  ...(valkeyProgram === null ? ['redis-server'] : []),
  ...(haproxyProgram === null ? ['haproxy'] : []),
]

interface ClusterOptions {
  /** The executable. */
  program: string
  /** Holds everything, and is kept. By default a new folder, which is removed at the end. */
  folder?: string
  /** Whether commits are synced and wait for a standby, and passwords are required, as in production. */
  isInEarnest?: boolean
}

/** Where a node is. */
interface NodePlace extends Ports {
  name: string
  url: string
  managementUrl: string
  /** The node's own, through which its operator gets in. */
  dataDir: string
  log: string
}

/** One of the nodes. */
export interface ClusterNode extends NodePlace {
  child: Bun.Subprocess
}

/** The name by which commits wait for PostgreSQL's standby. */
const standbyName = 'standby'

const databaseName = 'cairn'

/** PostgreSQL, Valkey or Redis, nodes of the executable and HAProxy before them, all on this machine. */
export class Cluster {
  nodes: ClusterNode[] = []
  private proxy: Haproxy | null = null
  private isClosing = false

  private constructor(
    readonly folder: string,
    private readonly options: ClusterOptions,
    readonly postgres: PostgresServer,
    readonly standby: PostgresServer | null,
    readonly valkey: Valkey,
  ) {}

  /** Starts what nodes need, with an empty database. */
  static async open(options: ClusterOptions): Promise<Cluster> {
    const { isInEarnest = false, folder = mkdtempSync(join(tmpdir(), 'cairn-cluster-')) } = options
    mkdirSync(folder, { recursive: true })
    const password = isInEarnest ? await passwordIn(folder) : undefined
    const settings = isInEarnest ? ['fsync=on', 'max_connections=200'] : []
    const at = (name: string) => (isInEarnest ? { folder: join(folder, name) } : {})
    const limits = ['--maxmemory', '64mb', '--maxmemory-policy', 'noeviction']
    const begun: { close(): Promise<void> }[] = []
    const begin = async <T extends { close(): Promise<void> }>(one: Promise<T>): Promise<T> => {
      const server = await one
      begun.unshift(server)
      return server
    }
    try {
      const postgres = await begin(PostgresServer.with({ settings, password, ...at('postgres') }))
      const standby = isInEarnest
        ? await begin(postgres.standby(standbyName, { settings, ...at('standby') }))
        : null
      if (standby !== null) await postgres.waitFor(standbyName)
      const secret = password === undefined ? [] : ['--requirepass', password]
      const valkey = await begin(Valkey.open(...limits, ...secret))
      const cluster = new Cluster(folder, options, postgres, standby, valkey)
      await cluster.makeDatabase()
      return cluster
    } catch (error) {
      for (const server of begun) await server.close()
      throw error
    }
  }

  private async makeDatabase(): Promise<void> {
    const isThere = `select from pg_database where datname = '${databaseName}'`
    const [found] = await this.postgres.ask(isThere)
    if (!found) await this.postgres.emptyDatabase('', databaseName)
  }

  get databaseUrl(): string {
    return this.postgres.url(databaseName)
  }

  /** The environment that tells the command line where everything is. */
  get env(): Record<string, string> {
    return { CAIRN_DATABASE_URL: this.databaseUrl, CAIRN_LIMITS_URL: this.valkey.url }
  }

  /** The address for clients: HAProxy's. */
  get url(): string {
    return this.proxy!.url
  }

  /** Runs a command of the executable over the database. */
  run(args: readonly string[], env: Record<string, string> = {}): Promise<Finished> {
    const place = new Workplace(async () => this.options.program, this.folder, this.env)
    return place.run([...args], env)
  }

  /** The same; fails unless the command succeeds. */
  async succeeded(args: readonly string[], env: Record<string, string> = {}): Promise<string> {
    const { status, stdout, stderr } = await this.run(args, env)
    if (status !== 0) throw new Error(`cairn ${args.join(' ')} failed: ${stderr}`)
    return stdout
  }

  /**
   * Starts nodes, and HAProxy before them.
   *
   * @param env of the nodes, besides where their database is
   * @param port of HAProxy, a free one by default
   */
  async serve(count: number, env: Record<string, string> = {}, port?: number): Promise<void> {
    const places = Array.from({ length: count }, (_, i) => this.placeFor(`node-${i + 1}`))
    this.nodes = (await Promise.all(places)).map(place => ({
      ...place,
      child: this.startNode(place, env),
    }))
    await Promise.all(this.nodes.map(node => ready(node)))
    this.proxy = await Haproxy.open(this.folder, this.nodes, port)
  }

  /**
   * Starts a node again whenever it has ended, as systemd or Kubernetes would.
   *
   * @param onEnd gets the name of the node that ended, and how
   */
  supervise(onEnd: (name: string, how: string) => void, env: Record<string, string> = {}): void {
    const watch = async (node: ClusterNode) => {
      const status = await node.child.exited
      if (this.isClosing) return
      onEnd(node.name, `${node.child.signalCode ?? `status ${status}`}`)
      await Bun.sleep(1_000)
      if (this.isClosing) return
      node.child = this.startNode(node, env)
      watch(node)
    }
    this.nodes.forEach(watch)
  }

  /**
   * Stops a node and starts one of another build in its place, as an upgrade does. Resolves once that one is ready.
   *
   * @returns the exit status of the old one
   */
  async replace(
    node: ClusterNode,
    program: string,
    env: Record<string, string> = {},
  ): Promise<number> {
    node.child.kill('SIGTERM')
    const status = await node.child.exited
    node.child = this.startNode(node, env, program)
    await ready(node)
    return status
  }

  private async placeFor(name: string): Promise<NodePlace> {
    const [port, managementPort] = [await freePort(), await freePort()]
    return {
      ...{ name, port, managementPort },
      url: `http://127.0.0.1:${port}`,
      managementUrl: `http://127.0.0.1:${managementPort}`,
      dataDir: join(this.folder, name),
      log: join(this.folder, `${name}.log`),
    }
  }

  private startNode(
    place: NodePlace,
    env: Record<string, string>,
    program = this.options.program,
  ): Bun.Subprocess {
    return dependent([program, 'serve'], {
      cwd: this.folder,
      log: place.log,
      env: {
        ...this.env,
        CAIRN_DATA: place.dataDir,
        CAIRN_HOST: '127.0.0.1',
        CAIRN_PORT: `${place.port}`,
        CAIRN_MANAGEMENT_PORT: `${place.managementPort}`,
        ...env,
      },
    })
  }

  /** Stops everything, beginning with what needs the others. */
  async close(): Promise<void> {
    this.isClosing = true
    await this.proxy?.close()
    for (const { child } of this.nodes) child.kill('SIGTERM')
    await Promise.all(this.nodes.map(({ child }) => child.exited))
    await this.valkey.close()
    // As it stops, the primary passes everything that it has on to the standby.
    await this.postgres.close()
    await this.standby?.close()
    if (this.options.folder === undefined) rmSync(this.folder, { recursive: true, force: true })
  }
}

/** Waits until a node says that it is ready for traffic. */
async function ready({ name, child, log, managementUrl }: ClusterNode): Promise<void> {
  await until(async () => {
    if (child.exitCode !== null) {
      throw new Error(`${name} has ended ${child.exitCode}: ${await Bun.file(log).text()}`)
    }
    return fetch(`${managementUrl}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    )
  })
}

/** Chosen once for a folder, and readable only by its owner. */
async function passwordIn(folder: string): Promise<string> {
  const file = join(folder, 'password')
  if (existsSync(file)) return (await Bun.file(file).text()).trim()
  const password = Buffer.from(crypto.getRandomValues(new Uint8Array(18))).toString('base64url')
  await Bun.write(file, `${password}\n`, { mode: 0o600 })
  return password
}
