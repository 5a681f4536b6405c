import { statfs } from 'node:fs/promises'

/** What this user may still write on the disk of a folder. */
export async function freeBytesOf(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}

export const mib = (bytes: number) => `${Math.ceil(bytes / 2 ** 20)} MiB`
