/** What strace does to system calls, such as `pwrite64:error=EIO`; see its manual on `inject`. */
export interface Injection {
  /** The calls, separated by commas. */
  calls: string
  /** `error=EIO`, `delay_exit=500000`; with `:when=` if not for every call. */
  fault: string
  /** Only calls on this file. */
  path?: string
}

/** Whether strace is available and may trace processes. */
export function canTrace(): boolean {
  if (Bun.which('strace') === null || process.getuid?.() !== 0) return false
  const inject = ['-e', 'trace=fsync', '-e', 'inject=fsync:error=EIO']
  return Bun.spawnSync(['strace', '-qq', '-o', '/dev/null', ...inject, 'true']).success
}

/** Makes system calls of a running process fail or take long until healed. */
export class FaultyCalls {
  private constructor(private readonly strace: Bun.Subprocess<'ignore', 'ignore', 'pipe'>) {}

  /** Resolves once all threads are traced. */
  static async in(pid: number, { calls, fault, path }: Injection): Promise<FaultyCalls> {
    const strace = Bun.spawn(
      ['strace', '-f', '-p', `${pid}`, '-o', '/dev/null'].concat(
        path === undefined ? [] : ['-P', path],
        ['-e', `trace=${calls}`],
        ['-e', `inject=${calls}:${fault}`],
      ),
      { stdout: 'ignore', stderr: 'pipe' },
    )
    const attached = Promise.withResolvers<void>()
    const listen = async () => {
      let output = ''
      for await (const text of strace.stderr.pipeThrough(new TextDecoderStream())) {
        output += text
        if (output.includes(' attached')) attached.resolve()
      }
      attached.reject(new Error(`strace could not attach: ${output}`))
    }
    listen()
    await attached.promise
    return new FaultyCalls(strace)
  }

  /** Makes all calls work as usual again. */
  async heal(): Promise<void> {
    this.strace.kill('SIGINT')
    await this.strace.exited
  }
}
