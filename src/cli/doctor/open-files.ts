import { readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs'

/**
 * Programs that have a file open, by name and process, but for this one and the server. Known on Linux
 * alone, and of this user's processes (root: of all).
 */
export function programsWith(file: string, server: number | null): string[] {
  const path = realpathSync(file)
  return processes()
    .filter(pid => pid !== process.pid && pid !== server && hasOpen(pid, path))
    .map(pid => `${nameOf(pid)} (process ${pid})`)
}

function processes(): number[] {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger)
  } catch {
    return []
  }
}

function hasOpen(pid: number, path: string): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some(fd => linkOf(`/proc/${pid}/fd/${fd}`) === path)
  } catch {
    return false
  }
}

/** Null for one that was closed meanwhile. */
function linkOf(fd: string): string | null {
  try {
    return readlinkSync(fd)
  } catch {
    return null
  }
}

function nameOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim()
  } catch {
    return 'a program'
  }
}
