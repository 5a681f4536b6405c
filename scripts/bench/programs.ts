import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PostgresServer } from '../support/postgres.ts'
import { cpuMsOf, familyCpuMsOf } from '../support/process.ts'

/** Holds all folders, and goes with the bench even if that is interrupted: there are gigabytes in it. */
const scratch = mkdtempSync(join(tmpdir(), 'cairn-bench-'))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130))
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }))

export const newFolder = () => mkdtempSync(join(scratch, 'data-'))

export type Environment = Record<string, string>

/** Starts a process that ends with this one, even if this one is killed. */
export function spawn(command: readonly string[], cwd: string, env: Environment) {
  const tied = ['setpriv', '--pdeathsig', 'KILL', ...command]
  return Bun.spawn(tied, { cwd, env, stdout: 'pipe', stderr: 'pipe' })
}

/** An organisation as a load needs it. */
export interface Organisation {
  snippetKey: string
  /** Of an analyst's session. */
  token: string
  flows: readonly { id: string; stepIds: readonly string[] }[]
}

interface Process {
  child: Bun.Subprocess
  url: string
  managementUrl: string | undefined
}

interface Start {
  folder: string
  commands: readonly (readonly string[])[]
  env?: Environment
  postgres?: PostgresServer
  /** Whether the folder outlives the program. */
  isKept?: boolean
}

/** A program under measurement: one process, or several nodes with their PostgreSQL. */
export class Program implements AsyncDisposable {
  organisation: Organisation = { snippetKey: '', token: '', flows: [] }

  private constructor(
    private readonly options: Start,
    private readonly processes: readonly Process[],
    /** Until the first response, milliseconds. */
    readonly startMs: number,
  ) {}

  /** Starts a process for each command. */
  static async start(options: Start): Promise<Program> {
    const { folder, commands, env = {} } = options
    const startedAt = performance.now()
    const processes = await Promise.all(commands.map(each => startProcess(each, folder, env)))
    for (const { url } of processes) await (await fetch(`${url}/api/v1/heartbeat`)).arrayBuffer()
    return new Program(options, processes, performance.now() - startedAt)
  }

  get postgres(): PostgresServer | undefined {
    return this.options.postgres
  }

  get folder(): string {
    return this.options.folder
  }

  get urls(): string[] {
    return this.processes.map(({ url }) => url)
  }

  get pid(): number {
    return this.processes[0]!.child.pid
  }

  /** CPU that all processes have used so far, including PostgreSQL's, microseconds. */
  cpuMicros(): number {
    const each = this.processes.map(({ child }) => cpuMsOf(child.pid) * 1_000)
    return each.reduce((sum, micros) => sum + micros, this.postgresCpuMicros())
  }

  postgresCpuMicros(): number {
    const pid = this.options.postgres?.read('postmaster.pid').split('\n')[0]
    return pid === undefined ? 0 : familyCpuMsOf(Number(pid)) * 1_000
  }

  /** How many events Cairn has accepted since its start; null for other programs. */
  async acceptedEvents(): Promise<number | null> {
    let sum = 0
    for (const { managementUrl } of this.processes) {
      if (managementUrl === undefined) return null
      const page = await (await fetch(`${managementUrl}/metrics`)).text()
      sum += Number(/^cairn_events_total\{verdict="accepted"\} (\d+)$/m.exec(page)?.[1])
    }
    return sum
  }

  /** Waits until it has nothing left to do, a minute at most. */
  async settled(): Promise<void> {
    for (let tries = 0, before = 0; tries < 40; tries++) {
      const now = this.cpuMicros()
      if (tries > 0 && now - before < 50_000) return
      before = now
      await Bun.sleep(1_500)
    }
  }

  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    for (const { child } of this.processes) child.kill(signal)
    await Promise.all(this.processes.map(({ child }) => child.exited))
    await this.options.postgres?.close()
    if (!this.options.isKept) rmSync(this.folder, { recursive: true, force: true })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.end('SIGKILL')
  }
}

/** Starts a process and waits for its line `serving URL`. */
function startProcess(command: readonly string[], folder: string, env: Environment) {
  const child = spawn(command, folder, env)
  const { promise, resolve, reject } = Promise.withResolvers<Process>()
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    ;(async () => {
      for await (const chunk of stream.pipeThrough(new TextDecoderStream())) {
        // The rest of its log is read, too: a full pipe would stop it.
        if (output.length > 100_000) continue
        output += chunk
        const [, url, managementUrl] =
          /serving (\S+?)(?:, management at (\S+))?\n/.exec(output) ?? []
        if (url !== undefined) resolve({ child, url, managementUrl })
      }
    })()
  }
  child.exited.then(status => {
    reject(new Error(`${command.join(' ')} ended with ${status}: ${output}`))
  })
  return promise
}
