import { rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { installedBrowsers } from './installed.ts'
import { bundledProgram, choice, namedProgram, type Program } from './program.ts'
import { tryOut } from './try-out.ts'

/** The programs that may do, the best first. Who names one wants no other. */
export function candidates(): Program[] {
  const named = namedProgram()
  if (named) return [named]
  const installed = installedBrowsers(process.env.PATH ?? '', homedir())
  const bundled = bundledProgram()
  return [
    ...installed.map(executablePath => ({ executablePath, env: {} })),
    ...(bundled ? [bundled] : []),
  ]
}

/**
 * The first of `programs` that tests can run in.
 *
 * @param say told a line about each that was tried
 */
export async function firstThatWorks(
  programs: readonly Program[],
  say: (line: string) => void,
): Promise<Program | null> {
  for (const program of programs) {
    const { version, fault } = await tryOut(program)
    const described = program.executablePath + (version && ` (${version})`)
    if (fault === null) {
      say(`tests in a browser run in ${described}`)
      return program
    }
    say(`tests cannot run in ${described}: ${fault}`)
  }
  return null
}

// Run by scripts/browser: leaves the choice for the tests, and ends with status 1 where there is none.
if (import.meta.main) {
  const program = await firstThatWorks(candidates(), line => console.error(`cairn: ${line}`))
  if (program) await Bun.write(choice, JSON.stringify(program))
  else rmSync(choice, { force: true })
  process.exit(program ? 0 : 1)
}
