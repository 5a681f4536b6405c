import { realpathSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/**
 * Whether a directory, which may not be there yet, is another or lies in it. By what the directories
 * are and not by their names: links, mounts and letters of either case give one several.
 */
export function isInside(directory: string, other: string): boolean {
  const { dev, ino } = statSync(other)
  for (let at = nearest(resolve(directory)); ; at = dirname(at)) {
    const found = statSync(at)
    if (found.dev === dev && found.ino === ino) return true
    if (at === dirname(at)) return false
  }
}

/** What of a path is there, without links in it. */
function nearest(path: string): string {
  try {
    return realpathSync(path)
  } catch (error) {
    if (path === dirname(path)) throw error
    return nearest(dirname(path))
  }
}
