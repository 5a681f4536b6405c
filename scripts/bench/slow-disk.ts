import type { Folder, Program } from './programs.ts'
import { startCairn } from './programs.ts'

/** How long each disk sync takes on a slow disk, milliseconds. */
export const syncMs = 20

/** Tracer in a process of its own (-D), so that the program is still the child that is measured. */
const traced = (strace: string) =>
  [strace, '-D', '-f', '-qq', '--seccomp-bpf', '-o', '/dev/null'].concat([
    '-e',
    'trace=fsync,fdatasync',
    '-e',
    `inject=fsync,fdatasync:delay_exit=${syncMs * 1_000}`,
  ])

/**
 * Starts Cairn on a disk that is slow: each sync itself is delayed by strace, or, where that is
 * missing or may not trace, each commit by Cairn's own failpoint.
 */
export async function startOnSlowDisk(folder: Folder): Promise<{ program: Program; how: string }> {
  const strace = Bun.which('strace')
  const runner = strace === null ? [] : traced(strace)
  if (runner.length > 0 && Bun.spawnSync([...runner, '/bin/true']).success) {
    return { program: await startCairn(folder, {}, runner), how: 'strace' }
  }
  const env = { CAIRN_FAILPOINTS: `before_commit=delay:${syncMs}` }
  return { program: await startCairn(folder, { env }), how: 'failpoint' }
}
