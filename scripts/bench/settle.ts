import type { Program } from './programs.ts'

/** A program is idle when it uses less than this share of a core for this long. */
const idleShare = 0.03
const idleMs = 1_500

/** Waits until a program has nothing left to do, such as to seal what it holds. */
export async function settled(program: Program, mostSeconds: number): Promise<void> {
  const startedAt = performance.now()
  const passed = () => (performance.now() - startedAt) / 1_000
  for (let used = program.cpuMicros(); passed() < mostSeconds; ) {
    await Bun.sleep(idleMs)
    const now = program.cpuMicros()
    if (now - used < idleShare * idleMs * 1_000) return
    used = now
  }
}
