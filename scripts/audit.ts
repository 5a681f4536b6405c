import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** See scripts/audit. */

interface Advisory {
  title: string
  severity: string
  url: string
}

/** Severities that must not be shipped. */
const severe = ['high', 'critical']

/** Parses what `bun audit --json` printed: the advisories by package; null if it could not ask. */
function advisoriesIn(stdout: string): Record<string, Advisory[]> | null {
  try {
    const found: unknown = JSON.parse(stdout)
    const isTable = typeof found === 'object' && found !== null && !Array.isArray(found)
    return isTable ? (found as Record<string, Advisory[]>) : null
  } catch {
    return null
  }
}

/** The lines to print about the advisories, and whether one of them is too bad to go on. */
function verdictOn(advisories: Record<string, Advisory[]>): {
  lines: string[]
  isBad: boolean
} {
  const all = Object.entries(advisories).flatMap(([name, list]) =>
    list.map(advisory => ({ name, ...advisory })),
  )
  const lines = all.map(
    ({ name, severity, title, url }) => `audit: ${severity}: ${name}: ${title} (${url})`,
  )
  const count = all.filter(({ severity }) => severe.includes(severity)).length
  lines.push(`audit: ${all.length} known advisories, ${count} of them high or critical`)
  return { lines, isBad: count > 0 }
}

/** A release with long-known advisories: a registry that knows none for it has no advisories at all. */
const known = {
  'package.json': '{"name":"known","dependencies":{"lodash":"4.17.0"}}',
  'bun.lock':
    '{"lockfileVersion":1,"workspaces":{"":{"name":"known","dependencies":{"lodash":"4.17.0"}}},"packages":{"lodash":["lodash@4.17.0","",{},""]}}',
}

/** The registry's advisories for a directory's packages, or a word that says why there is no answer. */
function asked(directory: string): Record<string, Advisory[]> | string {
  const audit = Bun.spawnSync([process.execPath, 'audit', '--json'], {
    cwd: directory,
    stderr: 'pipe',
    timeout: 60_000,
  })
  const advisories = advisoriesIn(audit.stdout.toString())
  // Leaves out the address of the registry, because it may hold a password.
  return advisories ?? /- (\d{3})\s*$/m.exec(audit.stderr.toString())?.[1] ?? 'no answer'
}

function knowsAdvisories(): boolean {
  const directory = mkdtempSync(join(tmpdir(), 'cairn-audit-'))
  try {
    for (const [name, text] of Object.entries(known)) writeFileSync(join(directory, name), text)
    const answer = asked(directory)
    return typeof answer !== 'string' && Object.keys(answer).length > 0
  } finally {
    rmSync(directory, { recursive: true })
  }
}

const nothingChecked = (reason: string) =>
  `audit: NOTHING WAS CHECKED: the registry gives no advisories (${reason})`

if (import.meta.main) {
  const advisories = asked('.')
  if (typeof advisories === 'string') console.log(nothingChecked(advisories))
  else if (Object.keys(advisories).length === 0 && !knowsAdvisories()) {
    console.log(nothingChecked('not even of a release that is known to be bad'))
  } else {
    const { lines, isBad } = verdictOn(advisories)
    for (const line of lines) console.log(line)
    process.exitCode = isBad ? 1 : 0
  }
}
