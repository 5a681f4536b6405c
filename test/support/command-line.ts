import { Writable } from 'node:stream'
import type { Finished } from '../../scripts/support/finished.ts'
import { keepPrivate } from '../../src/cli/files.ts'
import { run } from '../../src/cli/program.ts'
import { Workplace } from './binary.ts'

/** What `process.exit` throws while a command runs here. */
class Exit extends Error {
  constructor(readonly status: number) {
    super(`exit ${status}`)
  }
}

/** Keeps what is written, as a stream that is no terminal. */
class Output extends Writable {
  text = ''

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString()
    done()
  }
}

/**
 * A workplace whose commands run in this process, from the sources, which takes a quarter of the CPU of a
 * start of the binary. It is for what commands say and do; `hostile-texts.test.ts` and `test/process` check
 * that the binary runs each of them as well. A process has one working directory and one environment, so
 * it runs one command at a time. It releases a database that a command had open only when that is garbage
 * collected, so it does not suit tests of restores or tests that change the database's files. Servers are
 * the binary, as everywhere.
 */
export class CommandLine extends Workplace {
  /** Settles when the newest command has ended. */
  private static last: Promise<unknown> = Promise.resolve()

  override async run(
    args: string[],
    env: Record<string, string> = {},
    stdin = '',
  ): Promise<Finished> {
    const needsProcess = args[0] === 'serve' || stdin !== '' || env.CAIRN_FAILPOINTS !== undefined
    if (needsProcess) return super.run(args, env, stdin)
    const finished = CommandLine.last.then(() => this.here(args, env))
    CommandLine.last = finished.catch(() => {})
    return finished
  }

  /** Runs a command as a process of the binary, which has the same version as a server. */
  runBinary(args: string[], env: Record<string, string> = {}): Promise<Finished> {
    return super.run(args, env)
  }

  /** The JSON that a command printed; fails unless it succeeded without a word on stderr. */
  // biome-ignore lint/suspicious/noExplicitAny: whoever looks at what was printed says what it is
  override async json<T = any>(
    args: string[],
    env: Record<string, string> = {},
    stdin = '',
  ): Promise<T> {
    const { status, stdout, stderr } = await this.run([...args, '--json'], env, stdin)
    if (status !== 0 || stderr !== '') throw new Error(`${args.join(' ')}: ${status} ${stderr}`)
    return JSON.parse(stdout)
  }

  private async here(args: string[], env: Record<string, string>): Promise<Finished> {
    const [stdout, stderr] = [new Output(), new Output()]
    const { exit, exitCode, env: ownEnv } = process
    const streams = ['stdout', 'stderr'].map(
      name => [name, Object.getOwnPropertyDescriptor(process, name)!] as const,
    )
    const [directory, mask] = [process.cwd(), process.umask()]
    const finished = (status: unknown) => ({
      status: Number(status),
      stdout: stdout.text,
      stderr: stderr.text,
    })
    try {
      process.chdir(this.folder)
      process.env = { ...env }
      process.exitCode = 0
      process.exit = status => {
        throw new Exit(Number(status ?? process.exitCode))
      }
      Object.defineProperty(process, 'stdout', { value: stdout, configurable: true })
      Object.defineProperty(process, 'stderr', { value: stderr, configurable: true })
      keepPrivate()
      await run(args)
      return finished(process.exitCode)
    } catch (error) {
      if (!(error instanceof Exit)) throw error
      return finished(error.status)
    } finally {
      for (const [name, descriptor] of streams) Object.defineProperty(process, name, descriptor)
      process.chdir(directory)
      process.umask(mask)
      // Undefined would keep the command's exit code, and the test run would exit with it.
      Object.assign(process, { exit, exitCode: exitCode ?? 0, env: ownEnv })
    }
  }
}
