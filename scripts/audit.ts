import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** See scripts/audit. */

interface Advisory {
  title: string
  severity: string
  url: string
}

/** A release with long-known advisories: a registry that knows none for it has no advisories at all. */
const known = {
  'package.json': '{"name":"known","dependencies":{"lodash":"4.17.0"}}',
  'bun.lock':
    '{"lockfileVersion":1,"workspaces":{"":{"name":"known","dependencies":{"lodash":"4.17.0"}}},"packages":{"lodash":["lodash@4.17.0","",{},""]}}',
}

/** The registry's advisories for a directory's packages, by package, or a word that says why there are none. */
function advisoriesFor(cwd: string): Record<string, Advisory[]> | string {
  const audit = Bun.spawnSync([process.execPath, 'audit', '--json'], { cwd, timeout: 60_000 })
  try {
    const found: unknown = JSON.parse(audit.stdout.toString())
    if (typeof found === 'object' && found !== null) return found as Record<string, Advisory[]>
  } catch {
    // What it prints then is a message.
  }
  // Leaves out the address of the registry, because it may hold a password.
  return /- (\d{3})\s*$/m.exec(audit.stderr.toString())?.[1] ?? 'no answer'
}

function knowsAdvisories(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-audit-'))
  for (const [name, text] of Object.entries(known)) writeFileSync(join(folder, name), text)
  const found = advisoriesFor(folder)
  rmSync(folder, { recursive: true })
  return typeof found === 'object' && Object.keys(found).length > 0
}

let found = advisoriesFor('.')
if (typeof found === 'object' && Object.keys(found).length === 0 && !knowsAdvisories()) {
  found = 'not even of a release that is known to be bad'
}
if (typeof found === 'string') {
  console.log(`audit: NOTHING WAS CHECKED: the registry gives no advisories (${found})`)
} else {
  const all = Object.entries(found).flatMap(([name, list]) => list.map(one => ({ name, ...one })))
  for (const { name, severity, title, url } of all) {
    console.log(`audit: ${severity}: ${name}: ${title} (${url})`)
  }
  const severe = all.filter(({ severity }) => severity === 'high' || severity === 'critical')
  console.log(`audit: ${all.length} known advisories, ${severe.length} of them high or critical`)
  process.exitCode = severe.length > 0 ? 1 : 0
}
