import { existsSync } from 'node:fs'
import { join } from 'node:path'

export { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'

/** Where scripts/browser unpacks the browser. */
export const folder = join(import.meta.dir, 'node_modules/.unpacked')

/** The browser's program, and what its environment needs on this machine. */
export function program(): { executablePath: string; env: Record<string, string> } {
  const named = process.env.CAIRN_TEST_BROWSER
  if (named) return { executablePath: named, env: {} }
  const executablePath = join(folder, 'chromium')
  if (!existsSync(executablePath)) {
    throw new Error(
      process.platform === 'linux' && process.arch === 'x64'
        ? 'There is no browser for the tests: run scripts/browser'
        : 'Name an installed Chrome or Chromium by CAIRN_TEST_BROWSER',
    )
  }
  return {
    executablePath,
    env: { FONTCONFIG_PATH: join(folder, 'fonts'), ...libraries(executablePath) },
  }
}

/** The libraries that came with the browser, where the system lacks one of them. */
function libraries(executablePath: string): Record<string, string> {
  const { stdout } = Bun.spawnSync(['ldd', executablePath], { stderr: 'ignore' })
  return stdout.includes('not found') ? { LD_LIBRARY_PATH: join(folder, 'al2023/lib') } : {}
}
