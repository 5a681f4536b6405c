import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** A browser for the tests: its executable, and what its environment needs on this machine. */
export interface Program {
  executablePath: string
  env: Record<string, string>
}

/** Where scripts/browser unpacks the browser that it brings, and its own fonts and libraries. */
export const folder = join(import.meta.dir, 'node_modules/.unpacked')

/** Where scripts/browser leaves the program that it chose, as JSON. */
export const choice = join(import.meta.dir, 'node_modules/.chosen.json')

/** Nothing of the system but its C library: what is installed there must not change a test. */
const bundled: Program = {
  executablePath: join(folder, 'chromium'),
  env: {
    FONTCONFIG_FILE: join(folder, 'fonts/fonts.conf'),
    LD_LIBRARY_PATH: join(folder, 'al2023/lib'),
  },
}

/** The browser that scripts/browser brings, once it is there. */
export const bundledProgram = (): Program | null =>
  existsSync(bundled.executablePath) ? bundled : null

/** The browser that `CAIRN_TEST_BROWSER` names: a path, or `bundled` for the one brought along. */
export function namedProgram(): Program | null {
  const named = process.env.CAIRN_TEST_BROWSER
  if (named === 'bundled') return bundled
  return named ? { executablePath: named, env: {} } : null
}

async function chosenProgram(): Promise<Program | null> {
  const chosen: Program | null = await Bun.file(choice)
    .json()
    .catch(() => null)
  return chosen && existsSync(chosen.executablePath) ? chosen : null
}

/** The browser that the tests run in: the one named, which then has to open, or chosen by scripts/browser. */
export const program: Program | null = namedProgram() ?? (await chosenProgram())

/** What to do where there is none. */
export const noBrowser =
  'no browser for the tests: run scripts/browser, install Chrome, Chromium or Edge, or name one by CAIRN_TEST_BROWSER'
