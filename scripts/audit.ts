/** See scripts/audit. */

interface Advisory {
  title: string
  severity: string
  url: string
}

/** Those that must not be shipped. */
const severe = ['high', 'critical']

/** What `bun audit --json` printed: the advisories by package; null where it could not ask. */
export function advisoriesIn(stdout: string): Record<string, Advisory[]> | null {
  try {
    const found: unknown = JSON.parse(stdout)
    const isTable = typeof found === 'object' && found !== null && !Array.isArray(found)
    return isTable ? (found as Record<string, Advisory[]>) : null
  } catch {
    return null
  }
}

/** What to say of them, and whether one is too bad to go on. */
export function verdictOn(advisories: Record<string, Advisory[]>): {
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

if (import.meta.main) {
  const audit = Bun.spawnSync([process.execPath, 'audit', '--json'], {
    stderr: 'pipe',
    timeout: 60_000,
  })
  const advisories = advisoriesIn(audit.stdout.toString())
  if (advisories === null) {
    // The address of the registry, which may hold a password, is left out.
    const [, reason = 'no answer'] = /- (\d{3})\s*$/m.exec(audit.stderr.toString()) ?? []
    console.log(`audit: not done, because the registry gave no advisories (${reason})`)
  } else {
    const { lines, isBad } = verdictOn(advisories)
    for (const line of lines) console.log(line)
    process.exitCode = isBad ? 1 : 0
  }
}
