import { arch, cpus, release, totalmem } from 'node:os'

/** The machine on which the figures were measured. */
export const machine = () => ({
  processor: cpus()[0]?.model ?? 'unknown',
  cores: cpus().length,
  memoryGiB: Math.round(totalmem() / 2 ** 30),
  system: `${process.platform} ${arch()} ${release()}`,
  bun: Bun.version,
})

export function machineText(): string {
  const { processor, cores, memoryGiB, system, bun } = machine()
  return `${processor}, ${cores} cores, ${memoryGiB} GiB, ${system}, Bun ${bun}`
}
