import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { builtBinary } from '../../support/binary.ts'
import { until } from '../../support/until.ts'
import { type Step, stepsIn, tracedCalls } from './trace.ts'

/** Runs Cairn's executable and records everything that it does to its files. */

/** What recording needs and this machine does not have; null if it can. */
export function missingForRecording(): string | null {
  if (Bun.which('strace') === null) return 'strace'
  const trace = ['strace', '-f', '--seccomp-bpf', '-e', 'trace=fsync', 'true']
  return Bun.spawnSync(trace).success ? null : 'the right to trace processes'
}

/** A server in the recording. */
export interface RecordedServer {
  url: string
  pid: number
}

/** Long enough for the largest write, so that no text is cut off. */
const longestText = 1 << 24

const startWithinMs = 60_000

/** A shell under strace, so that everything it starts is in one trace, in one order. */
export class Recording {
  private readonly traceFile: string
  private readonly shell: Bun.Subprocess<'pipe', 'pipe', 'pipe'>
  private readonly output: AsyncIterator<Uint8Array>
  private readonly serving = new Set<number>()
  private servers = 0

  private constructor(
    private readonly binary: string,
    private readonly folder: string,
    /** The directory that is recorded, and in which commands run. */
    readonly root: string,
  ) {
    this.traceFile = join(folder, 'trace')
    this.shell = Bun.spawn(
      [
        ...['strace', '-f', '-y', '-xx', '-s', String(longestText), '--seccomp-bpf'],
        ...['-e', `trace=${tracedCalls}`, '-o', this.traceFile, '/bin/sh'],
      ],
      { cwd: root, env: {}, stdin: 'pipe', stdout: 'pipe', stderr: 'pipe' },
    )
    this.output = this.shell.stdout[Symbol.asyncIterator]()
  }

  static async begin(): Promise<Recording> {
    const folder = mkdtempSync(join(tmpdir(), 'cairn-recording-'))
    const root = join(folder, 'disk')
    mkdirSync(root)
    return new Recording(await builtBinary(), folder, root)
  }

  /**
   * Runs a command to its end. Returns what it printed, exactly as it is in the recording.
   *
   * @throws Error if it fails
   */
  async run(...args: string[]): Promise<string> {
    return this.shellLine(`'${this.binary}' ${quoted(args)}`)
  }

  async serve(...args: string[]): Promise<RecordedServer> {
    const log = join(this.folder, `server-${++this.servers}.log`)
    const command = `'${this.binary}' serve --port 0 --management-port 0 ${quoted(args)}`
    const pid = Number(await this.shellLine(`${command} >'${log}' 2>&1 & echo $!`))
    this.serving.add(pid)
    const urlIn = () => existsSync(log) && /"url":"([^"]+)"/.exec(readFileSync(log, 'utf8'))?.[1]
    return { url: `${await until(urlIn, Boolean, startWithinMs)}`, pid }
  }

  /** Writes a line into the recording. */
  async say(text: string): Promise<void> {
    await this.shellLine(`echo '${text}'`)
  }

  async stop({ pid }: RecordedServer, signal: 'TERM' | 'KILL'): Promise<void> {
    await this.shellLine(`kill -${signal} ${pid}; wait ${pid}${signal === 'KILL' ? '; :' : ''}`)
    this.serving.delete(pid)
  }

  /** Ends the recording, and reads it. */
  async end(): Promise<Step[]> {
    this.shell.stdin.end()
    await this.shell.exited
    return stepsIn(this.traceFile, this.root)
  }

  remove(): void {
    for (const pid of this.serving) process.kill(pid, 'SIGKILL')
    this.shell.kill('SIGKILL')
    rmSync(this.folder, { recursive: true, force: true })
  }

  private async shellLine(line: string): Promise<string> {
    this.shell.stdin.write(`${line}\necho "status $?"\n`)
    this.shell.stdin.flush()
    let text = ''
    for (;;) {
      const { value, done } = await this.output.next()
      text += new TextDecoder().decode(value)
      const end = /(^|\n)status (\d+)\n$/.exec(text)
      if (end?.[2] === '0') return text.slice(0, end.index + end[1]!.length)
      if (end || done) {
        this.shell.kill()
        throw new Error(
          `${line} has failed: ${text}${await new Response(this.shell.stderr).text()}`,
        )
      }
    }
  }
}

const quoted = (args: readonly string[]) => args.map(arg => `'${arg}'`).join(' ')
