import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Finished, finished } from '../../scripts/support/finished.ts'
import { briefly, builtBinary } from '../support/binary.ts'

/** The command line over a temporary directory of its own, run as a process as users do. */
export class Cairn {
  readonly folder = mkdtempSync(join(tmpdir(), 'cairn-cli-'))
  private readonly running: Bun.Subprocess[] = []

  path(name: string): string {
    return join(this.folder, name)
  }

  async run(args: string[], { stdin = '', env = {} } = {}): Promise<Finished> {
    const child = Bun.spawn([await builtBinary(), ...args], {
      cwd: this.folder,
      env: { PATH: process.env.PATH, ...briefly, ...env },
      stdin: new Blob([stdin]),
      stdout: 'pipe',
      stderr: 'pipe',
    })
    return finished(child)
  }

  /** The JSON that a command printed; fails unless it succeeded without a word on stderr. */
  async json(args: string[], options: { stdin?: string; env?: Record<string, string> } = {}) {
    const { stdout, stderr, status } = await this.run([...args, '--json'], options)
    if (status !== 0 || stderr !== '') throw new Error(`${args.join(' ')}: ${status} ${stderr}`)
    return JSON.parse(stdout)
  }

  /** Starts a command that stays; resolves once its output holds a text. */
  async start(args: string[], expected: string) {
    const child = Bun.spawn([await builtBinary(), ...args], {
      cwd: this.folder,
      env: { PATH: process.env.PATH },
      stdout: 'pipe',
      stderr: 'pipe',
    })
    this.running.push(child)
    let output = ''
    const ready = Promise.withResolvers<void>()
    const read = async (stream: ReadableStream<Uint8Array>) => {
      for await (const chunk of stream) {
        output += Buffer.from(chunk).toString()
        if (output.includes(expected)) ready.resolve()
      }
    }
    Promise.all([read(child.stdout), read(child.stderr)]).then(() =>
      ready.reject(new Error(`ended without "${expected}": ${output}`)),
    )
    await ready.promise
    return { child, output: () => output }
  }

  async close(): Promise<void> {
    for (const child of this.running) {
      child.kill('SIGKILL')
      await child.exited
    }
    rmSync(this.folder, { recursive: true, force: true })
  }
}
