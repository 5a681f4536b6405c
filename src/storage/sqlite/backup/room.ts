import { statfsSync } from 'node:fs'

/** How many bytes this user may still write on the disk of a folder. */
export function freeBytesOf(folder: string): number {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}

export const mib = (bytes: number) => `${Math.ceil(bytes / 2 ** 20)} MiB`
