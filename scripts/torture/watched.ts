import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { Server, Workplace } from '../support/binary.ts'
import { openFilesOf, rssMiBOf } from '../support/process.ts'

const mib = 2 ** 20

/** Log levels that nobody has to look at. */
const calmLevels = ['trace', 'debug', 'info']

/** A running server as its system sees it, and the lines of its log that are not routine. */
export class Watched {
  /** Lines of the log at `warn` or above. */
  readonly remarks: string[] = []

  constructor(
    readonly server: Server,
    private readonly place: Workplace,
  ) {}

  get rssMiB(): number {
    return rssMiBOf(this.server.child.pid)
  }

  get openFiles(): number {
    return openFilesOf(this.server.child.pid)
  }

  get databaseMiB(): number {
    return this.mibOf('cairn.db')
  }

  get walMiB(): number {
    return this.mibOf('cairn.db-wal')
  }

  /** Reads the log up to here, returns the new lines, and keeps the remarkable ones. */
  readLog(): string[] {
    const end = this.server.stdout.lastIndexOf('\n') + 1
    const lines = this.server.stdout.slice(0, end).split('\n').slice(0, -1)
    this.server.stdout = this.server.stdout.slice(end)
    const isCalm = (line: string) => calmLevels.some(level => line.includes(`"level":"${level}"`))
    this.remarks.push(...lines.filter(line => !isCalm(line)))
    return lines
  }

  private mibOf(file: string): number {
    const path = join(this.place.dataDir, file)
    return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) / mib
  }
}
