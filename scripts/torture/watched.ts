import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Server, Workplace } from '../../test/support/binary.ts'

const mib = 2 ** 20

/** What is said at these levels is nothing that anybody has to look at. */
const calmLevels = ['trace', 'debug', 'info']

/** A running server, as its system sees it; and what its log says that is not daily life. */
export class Watched {
  private readonly proc: string
  /** Lines of the log at `warn` or above. */
  readonly remarks: string[] = []

  constructor(
    readonly server: Server,
    private readonly place: Workplace,
  ) {
    this.proc = `/proc/${server.child.pid}`
  }

  /** Resident memory, MiB. */
  get rssMiB(): number {
    return Number(/VmRSS:\s+(\d+)/.exec(this.status)?.[1] ?? 0) / 1_024
  }

  get threads(): number {
    return Number(/Threads:\s+(\d+)/.exec(this.status)?.[1] ?? 0)
  }

  get openFiles(): number {
    return readdirSync(`${this.proc}/fd`).length
  }

  get databaseMiB(): number {
    return this.mibOf('cairn.db')
  }

  get walMiB(): number {
    return this.mibOf('cairn.db-wal')
  }

  /** A metric of one sample. */
  async metric(name: string): Promise<number> {
    const page = await (await fetch(`${this.server.managementUrl}/metrics`)).text()
    return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(page)?.[1])
  }

  /** Reads the log up to here, tells the lines that came, and keeps what is remarkable in them. */
  readLog(): string[] {
    const end = this.server.stdout.lastIndexOf('\n') + 1
    const lines = this.server.stdout.slice(0, end).split('\n').slice(0, -1)
    this.server.stdout = this.server.stdout.slice(end)
    const isCalm = (line: string) => calmLevels.some(level => line.includes(`"level":"${level}"`))
    this.remarks.push(...lines.filter(line => !isCalm(line)))
    return lines
  }

  private get status(): string {
    return readFileSync(`${this.proc}/status`, 'utf8')
  }

  private mibOf(file: string): number {
    const path = join(this.place.folder, 'cairn-data', file)
    return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) / mib
  }
}

/** Waits until something is so, or for as long as it may take. */
export async function waitFor(isSo: () => boolean, mostMs: number): Promise<void> {
  const deadline = performance.now() + mostMs
  while (!isSo() && performance.now() < deadline) await Bun.sleep(500)
}

/** The largest value that something has while it is watched. */
export class Peak implements Disposable {
  value: number
  private readonly timer = setInterval(() => {
    this.value = Math.max(this.value, this.read())
  }, 100)

  constructor(private readonly read: () => number) {
    this.value = read()
  }

  [Symbol.dispose](): void {
    clearInterval(this.timer)
  }
}
