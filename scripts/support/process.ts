import { readdirSync, readFileSync } from 'node:fs'

/** Of a process's times in `/proc`, milliseconds; what Linux shows on every machine of ours. */
const tickMs = 10

/** CPU time that a process has taken so far, with its threads and in the kernel, milliseconds. */
export function cpuMsOf(pid: number): number {
  // Behind the name, which may hold anything: fields 14 and 15 of proc_pid_stat(5).
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) * tickMs
}

/** A process's resident memory, MiB. */
export const rssMiBOf = (pid: number) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1_024

export const openFilesOf = (pid: number) => readdirSync(`/proc/${pid}/fd`).length

/** The largest value that something has while it is watched. */
export class Peak implements Disposable {
  value: number
  private readonly timer = setInterval(() => {
    this.value = Math.max(this.value, this.read())
  }, 50)

  constructor(private readonly read: () => number) {
    this.value = read()
  }

  [Symbol.dispose](): void {
    clearInterval(this.timer)
  }
}
