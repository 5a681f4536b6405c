import { cpSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const mount = (...args: string[]) => Bun.spawnSync(['mount', ...args]).success

/** Whether this process may mount a disk of its own: as root, outside a container that forbids it. */
export function canMount(): boolean {
  if (Bun.which('mount') === null) return false
  const folder = join('/tmp', `cairn-mount-${process.pid}`)
  mkdirSync(folder, { recursive: true })
  const can = mount('-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder)
  if (can) Bun.spawnSync(['umount', folder])
  rmSync(folder, { recursive: true })
  return can
}

/** Mounts a small disk (a tmpfs) at a data directory, and copies the directory's contents to it. */
export class SmallDisk implements Disposable {
  private readonly filler: string

  constructor(
    private readonly folder: string,
    private readonly mebibytes: number,
  ) {
    this.filler = join(folder, 'filler')
    const before = `${folder}-before`
    renameSync(folder, before)
    mkdirSync(folder)
    if (!mount('-t', 'tmpfs', '-o', `size=${mebibytes}m,mode=700`, 'tmpfs', folder)) {
      throw new Error(`no disk could be mounted at ${folder}`)
    }
    cpSync(before, folder, { recursive: true })
    rmSync(before, { recursive: true })
  }

  /** Fills the disk to the last byte. */
  fill(): void {
    try {
      writeFileSync(this.filler, Buffer.alloc((this.mebibytes + 1) << 20))
    } catch (error) {
      if ((error as { code?: string }).code !== 'ENOSPC') throw error
    }
  }

  free(): void {
    rmSync(this.filler, { force: true })
  }

  /** Works only while no file is open for writing, because the system refuses it otherwise. */
  remount(how: 'ro' | 'rw'): void {
    if (!mount('-o', `remount,${how}`, this.folder)) throw new Error(`${this.folder}: no ${how}`)
  }

  [Symbol.dispose](): void {
    // Lazily, because a server may still be running.
    Bun.spawnSync(['umount', '-l', this.folder])
  }
}
