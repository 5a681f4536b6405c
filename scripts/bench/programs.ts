import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cpuMsOf, minorFaultsOf, peakRssMiBOf, rssMiBOf } from '../support/process.ts'

/** The measured programs. Each has a process of its own, so that all of its cost can be read. */

const root = join(import.meta.dir, '../..')

export const executable = join(root, 'dist/cairn')

/** What an interrupted bench would leave behind: programs to end, then gigabytes to remove. */
const running = new Set<Bun.Subprocess>()
const folders = new Set<Folder>()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130))
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
  for (const folder of folders) folder[Symbol.dispose]()
})

/** Has a program end with the bench, however the bench ends. */
export function endedWithBench<Child extends Bun.Subprocess>(child: Child): Child {
  running.add(child)
  child.exited.then(() => running.delete(child))
  return child
}

/** A program that a measured one needs. Its cost counts as part of the measured program's. */
export interface Helper {
  cpuMicros(): number
  end(): Promise<void>
}

/** A folder for one measurement; gone once it is disposed of. */
export class Folder implements Disposable {
  readonly path: string

  constructor() {
    this.path = mkdtempSync(join(tmpdir(), 'cairn-bench-'))
    folders.add(this)
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true })
    folders.delete(this)
  }
}

/** A process under measurement. */
export class Program implements AsyncDisposable {
  private constructor(
    private readonly child: Bun.Subprocess<'ignore', 'pipe', 'pipe'>,
    /** Where it serves, without a slash at the end. */
    readonly url: string,
    /** From its start to its first answer, milliseconds. */
    readonly startMs: number,
    private readonly helper?: Helper,
  ) {}

  /** Starts a program, and waits until it has said `serving <url>` and answers there. */
  static async start(
    command: string[],
    folder: Folder,
    env: Record<string, string> = {},
    helper?: Helper,
  ): Promise<Program> {
    const startedAt = performance.now()
    const child = endedWithBench(
      Bun.spawn(command, { cwd: folder.path, env, stdout: 'pipe', stderr: 'pipe' }),
    )
    const ready = Promise.withResolvers<string>()
    let told = ''
    const watch = async (stream: ReadableStream<Uint8Array>) => {
      const decoder = new TextDecoder()
      for await (const chunk of stream) {
        // Its log is still read, so that a full pipe does not hold it up.
        if (told.length > 100_000) continue
        told += decoder.decode(chunk, { stream: true })
        const url = /serving (http:\/\/[^\s,]+)/.exec(told)?.[1]
        if (url) ready.resolve(url.replace(/\/$/, ''))
      }
    }
    watch(child.stdout)
    watch(child.stderr)
    child.exited.then(status => ready.reject(new Error(`${command[0]} ended (${status}): ${told}`)))
    const url = await ready.promise
    // Any answer will do; Cairn's is a 401.
    await (await fetch(`${url}/api/v1/heartbeat`)).body?.cancel()
    return new Program(child, url, performance.now() - startedAt, helper)
  }

  get pid(): number {
    return this.child.pid
  }

  /** See `Loadable`. */
  get urls(): readonly string[] {
    return [this.url]
  }

  /** CPU that all of its threads have used so far, microseconds. */
  cpuMicros(): number {
    return cpuMsOf(this.child.pid) * 1_000 + (this.helper?.cpuMicros() ?? 0)
  }

  /** The helper's part of them. */
  helperCpuMicros(): number {
    return this.helper?.cpuMicros() ?? 0
  }

  /** Resident memory, MiB. */
  rssMiB(): number {
    return rssMiBOf(this.child.pid)
  }

  /** The most resident memory that it ever had, MiB. */
  peakRssMiB(): number {
    return peakRssMiBOf(this.child.pid)
  }

  /** Pages that the kernel has handed to it so far. */
  minorFaults(): number {
    return minorFaultsOf(this.child.pid)
  }

  /** Ends it as an operator would, and waits. */
  async stop(): Promise<void> {
    this.child.kill('SIGTERM')
    await this.child.exited
    await this.helper?.end()
  }

  /** Ends it as a crash would, and waits. */
  async kill(): Promise<void> {
    this.child.kill('SIGKILL')
    await this.child.exited
    await this.helper?.end()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.kill()
  }
}

const bun = join(root, 'node_modules/.bin/bun')

/** Signs session tokens of every Cairn that is measured. */
export const sessionSecret = 'a secret of the bench, long enough for HS256'

/** Starts the built executable with settings that differ from its defaults. */
export const startCairn = (
  folder: Folder,
  options: {
    threads?: number
    retentionDays?: number
    env?: Record<string, string>
    /** The folder itself by default. */
    data?: string
  } = {},
  /** The command that runs it, if it does not run by itself. */
  runner: readonly string[] = [],
) => {
  const { threads = 1, retentionDays = 90, env, data = folder.path } = options
  const settings = {
    data,
    port: 0,
    host: '127.0.0.1',
    'management-port': 0,
    threads,
    'retention-days': retentionDays,
  }
  const flags = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, `${value}`])
  return Program.start([...runner, executable, 'serve', ...flags], folder, {
    CAIRN_SESSION_SECRET: sessionSecret,
    ...env,
  })
}

/** The SQLite file of programs that keep one row for each event and nothing else. */
export const rowsFile = 'events.db'

/** The least program that stores events durably; see floor.ts. */
export const startFloor = (folder: Folder) =>
  Program.start([bun, join(import.meta.dir, 'floor.ts'), '0', join(folder.path, rowsFile)], folder)

/** A bare Elysia that answers so many bytes; see hello.ts. */
export const startHello = (folder: Folder, bytes: number) =>
  Program.start([bun, join(import.meta.dir, 'hello.ts'), '0', `${bytes}`], folder)
