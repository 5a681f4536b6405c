import type { Program } from './programs.ts'

/** Idle is who uses less than this share of a core for so long. */
const idleShare = 0.03
const idleMs = 1_500

/** Waits until a program has nothing left to do, such as to seal what it holds; tells the seconds. */
export async function settled(program: Program, mostSeconds: number): Promise<number> {
  const startedAt = performance.now()
  const passed = () => (performance.now() - startedAt) / 1_000
  for (let used = program.cpuMicros(); passed() < mostSeconds; ) {
    await Bun.sleep(idleMs)
    const now = program.cpuMicros()
    if (now - used < idleShare * idleMs * 1_000) return Math.max(0, passed() - idleMs / 1_000)
    used = now
  }
  return mostSeconds
}
