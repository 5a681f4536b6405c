import { realpathSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/**
 * Whether a directory, which may not exist yet, is another or lies in it. It compares the directories
 * themselves and not their names, because links, mounts and the case of letters give one several names.
 */
export function isInside(directory: string, other: string): boolean {
  const { dev, ino } = statSync(other)
  for (let at = nearest(resolve(directory)); ; at = dirname(at)) {
    const found = statSync(at)
    if (found.dev === dev && found.ino === ino) return true
    if (at === dirname(at)) return false
  }
}

/** The part of a path that exists, without links in it. */
function nearest(path: string): string {
  try {
    return realpathSync(path)
  } catch (error) {
    if (path === dirname(path)) throw error
    return nearest(dirname(path))
  }
}
