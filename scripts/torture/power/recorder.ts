import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { builtBinary } from '../../support/binary.ts'
import { until } from '../../support/until.ts'
import { type Steps, stepsIn, tracedCalls } from './trace.ts'

/** What recording needs and this machine does not have; null if it can. */
export function missingForPowercut(): string | null {
  if (Bun.which('strace') === null) return 'strace'
  const trace = ['strace', '-f', '--seccomp-bpf', '-o', '/dev/null', '-e', 'trace=fsync', 'true']
  return Bun.spawnSync(trace).success ? null : 'the right to trace processes'
}

/** Long enough for the largest write, so that no text is cut off. */
const maxTextBytes = 1 << 24

/** Records what each run of Cairn's executable does to its files. */
export class Recorder implements Disposable {
  private readonly folder = mkdtempSync(join(tmpdir(), 'cairn-traces-'))

  /** A program in place of the executable. Its process is Cairn's: strace works in a process of its own. */
  async program(): Promise<string> {
    const path = join(this.folder, 'cairn')
    if (existsSync(path)) return path
    const binary = await builtBinary()
    const strace = [
      ...[Bun.which('strace'), '-D', '-f', '-q', '-y', '-xx', '-ttt', '-s', `${maxTextBytes}`],
      ...['--seccomp-bpf', '-e', `'trace=${tracedCalls}'`, '-o', `'${this.folder}/'$$.trace`],
    ].join(' ')
    const script = `#!/bin/sh\nexec ${strace} '${binary}' "$@"\n`
    writeFileSync(path, script, { mode: 0o755 })
    return path
  }

  private get traces(): string[] {
    const names = readdirSync(this.folder).filter(name => name.endsWith('.trace'))
    return names.map(name => join(this.folder, name))
  }

  /** What was done to the files below a directory, once all that ran has ended. */
  async steps(root: string): Promise<Steps> {
    for (const trace of this.traces) {
      await until(() =>
        /\+\+\+ (exited|killed) .*\n$/.test(readFileSync(trace, 'latin1').slice(-200)),
      )
    }
    return stepsIn(this.traces, root)
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}
