import { join } from 'node:path'
import type { Loadable } from './load.ts'
import { Postgres } from './postgres.ts'
import { executable, type Folder, type Program, startCairn } from './programs.ts'

/** Nodes over one PostgreSQL, on this machine. */
export class Cluster implements Loadable, AsyncDisposable {
  private constructor(
    readonly postgres: Postgres,
    readonly nodes: readonly Program[],
  ) {}

  /**
   * Starts nodes over the PostgreSQL of a folder. If there is none yet, it is made from the folder's data
   * directory.
   */
  static async start(
    folder: Folder,
    count: number,
    options: Parameters<typeof startCairn>[1] = {},
  ): Promise<Cluster> {
    const isNew = !Postgres.isIn(folder)
    const postgres = await Postgres.start(folder)
    const env = { CAIRN_DATABASE_URL: postgres.url }
    if (isNew) {
      run(['migrate'], env)
      run(['move', '--data', folder.path], env)
    }
    const names = Array.from({ length: count }, (_, i) => `node-${i + 1}`)
    const start = (name: string) =>
      startCairn(folder, { ...options, data: join(folder.path, name), env })
    return new Cluster(postgres, await Promise.all(names.map(start)))
  }

  get urls(): readonly string[] {
    return this.nodes.map(({ url }) => url)
  }

  cpuMicros(): number {
    const ofNodes = this.nodes.reduce((sum, node) => sum + node.cpuMicros(), 0)
    return ofNodes + this.helperCpuMicros()
  }

  helperCpuMicros(): number {
    return this.postgres.cpuMicros()
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map(node => node.stop()))
    await this.postgres.end()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.nodes.map(node => node.kill()))
    await this.postgres.end()
  }
}

function run(args: readonly string[], env: Record<string, string>): void {
  const { success, stderr } = Bun.spawnSync([executable, ...args], { env, stdout: 'ignore' })
  if (!success) throw new Error(`cairn ${args.join(' ')}: ${stderr}`)
}
