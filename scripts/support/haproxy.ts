import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { dependent } from './dependent.ts'
import { freePort } from './ports.ts'
import { until } from './until.ts'

/** The program on this machine, which is not in everybody's PATH; null if there is none. */
export const haproxyProgram = Bun.which('haproxy') ?? Bun.which('/usr/sbin/haproxy')

/** The configuration that the manual recommends. */
export const manualsHaproxyConfig = (): string =>
  readFileSync(join(import.meta.dir, '../../deploy/haproxy.cfg'), 'utf8')

/** Where a node listens on this machine. */
export interface Ports {
  port: number
  managementPort: number
}

/** The manual's configuration with other addresses: those of nodes on this machine. */
function configFor(nodes: readonly Ports[], port: number): string {
  const servers = nodes.map(
    (node, i) => `server cairn-${i + 1} 127.0.0.1:${node.port} port ${node.managementPort}`,
  )
  return manualsHaproxyConfig()
    .replace(/^( +)bind .*$/m, `$1bind 127.0.0.1:${port}`)
    .replace(/^( +)server .*\n(?:^ +server .*\n)*/m, (_, indent) =>
      servers.map(server => `${indent}${server}\n`).join(''),
    )
}

/** A balancer in front of nodes on this machine, configured as the manual says. */
export class Haproxy {
  private constructor(
    readonly port: number,
    private readonly child: Bun.Subprocess,
  ) {}

  /** @param folder for its configuration and its log @param port of its own, a free one by default */
  static async open(folder: string, nodes: readonly Ports[], port?: number): Promise<Haproxy> {
    const ownPort = port ?? (await freePort())
    const file = join(folder, 'haproxy.cfg')
    writeFileSync(file, configFor(nodes, ownPort))
    const log = join(folder, 'haproxy.log')
    const child = dependent([haproxyProgram!, '-f', file, '-db'], { log })
    const proxy = new Haproxy(ownPort, child)
    await until(async () => {
      if (child.exitCode !== null) {
        throw new Error(`HAProxy does not start: ${readFileSync(log, 'utf8')}`)
      }
      return await proxy.reaches
    })
    return proxy
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  /** Whether it has a node to pass requests on to. */
  private get reaches(): Promise<boolean> {
    return fetch(`${this.url}/api/v1/flows`).then(
      ({ status }) => status !== 503,
      () => false,
    )
  }

  async close(): Promise<void> {
    this.child.kill('SIGTERM')
    await this.child.exited
  }
}
