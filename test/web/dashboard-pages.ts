/**
 * Takes pictures of every page of the dashboard in light and dark, with the demo at a fixed time, and
 * compares them with earlier ones. Run by scripts/dashboard.
 */

import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { rest } from '../support/browser.ts'
import { Demo } from '../support/demo.ts'
import { everyPage } from './dashboard/every-page.ts'

const [folder, before] = process.argv.slice(2)
if (!folder) throw new Error('Name a folder for the pictures')

/** Pages that differ each time, by their keys, ids, ports or figures of the machine. */
const differs = /^\/(server|activity|settings|install)/

const demo = await Demo.open({ at: Date.parse('2026-09-17T12:05:00Z') })
const others: string[] = []
try {
  mkdirSync(folder, { recursive: true })
  for (const { path } of everyPage) {
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page } = await demo.page({ colorScheme, viewport: { width: 1280, height: 900 } })
      await page.goto(demo.home + path)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await rest(page)
      const file = `${path.split('?')[0]!.slice(1).replaceAll('/', '-') || 'overview'}-${colorScheme}.png`
      const picture = await page.screenshot({ path: join(folder, file), fullPage: true })
      await page.context().close()
      if (!before || differs.test(path)) continue
      const old = join(before, file)
      if (!existsSync(old) || !readFileSync(old).equals(picture)) others.push(file)
    }
  }
} finally {
  await demo.close()
}
for (const file of others) console.log(`  differs: ${file}`)
console.log(
  `  ${everyPage.length * 2} pictures in ${folder}${before ? `, ${others.length} look different` : ''}`,
)
process.exit(others.length === 0 ? 0 : 1)
