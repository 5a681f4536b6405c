import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** Where scripts/browser unpacks the browser. */
export const folder = join(import.meta.dir, 'node_modules/.unpacked')

const unpacked = join(folder, 'chromium')

const named = process.env.CAIRN_TEST_BROWSER

/** Whether a browser was named, which then has to open, or brought by scripts/browser. */
export const hasBrowser = Boolean(named) || existsSync(unpacked)

/** What to do where there is none. */
export const noBrowser =
  'no browser for the tests: run scripts/browser (Linux on x64), or name a Chrome or Chromium by CAIRN_TEST_BROWSER'

/** The browser's program, and what its environment needs on this machine. */
export function program(): { executablePath: string; env: Record<string, string> } {
  if (named) return { executablePath: named, env: {} }
  if (!hasBrowser) throw new Error(noBrowser)
  return {
    executablePath: unpacked,
    env: { FONTCONFIG_PATH: join(folder, 'fonts'), ...libraries(unpacked) },
  }
}

/** The libraries that came with the browser, where the system lacks one of them. */
function libraries(executablePath: string): Record<string, string> {
  const { stdout } = Bun.spawnSync(['ldd', executablePath], { stderr: 'ignore' })
  return stdout.includes('not found') ? { LD_LIBRARY_PATH: join(folder, 'al2023/lib') } : {}
}
