/**
 * Compares pictures of the gallery with the stored ones, pixel by pixel. Run by scripts/snippet, in
 * the browser that scripts/browser brings, because its fonts and libraries are the same everywhere.
 */

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pixelmatch from 'pixelmatch'
import { PNG } from 'pngjs'
import { bundledProgram } from '../browser/program.ts'
import { TestBrowser } from '../support/browser.ts'
import { comparedPictures, look, looks, serveGallery, viewportOf } from '../support/gallery.ts'

/** The share of pixels that may differ, because another processor may smooth edges slightly differently. */
const maxShare = 1 / 1_000

const kept = join(import.meta.dir, '../fixtures/gallery')
const differing = join(import.meta.dir, '../../dist/gallery')
const isToKeep = process.argv[2] === 'keep'

/** The share of pixels that differ from before, 0 to 1; a picture of the difference is left in `dist`. */
function share(name: string, before: Buffer, after: Buffer): number {
  const [a, b] = [PNG.sync.read(before), PNG.sync.read(after)]
  const { width, height } = a
  if (b.width !== width || b.height !== height) return 1
  const diff = new PNG({ width, height })
  const count = pixelmatch(a.data, b.data, diff.data, width, height, { threshold: 0.1 })
  if (count > 0) {
    mkdirSync(differing, { recursive: true })
    writeFileSync(join(differing, `${name}.png`), after)
    writeFileSync(join(differing, `${name}-difference.png`), PNG.sync.write(diff))
  }
  return count / (width * height)
}

if (!bundledProgram()) throw new Error('Run CAIRN_TEST_BROWSER=bundled scripts/browser first')
rmSync(differing, { recursive: true, force: true })
if (isToKeep) {
  rmSync(kept, { recursive: true, force: true })
  mkdirSync(kept, { recursive: true })
}
const gallery = serveGallery()
const browser = await TestBrowser.open()
const others: string[] = []
try {
  const { page } = await browser.page()
  for (const [name, how] of comparedPictures) {
    await page.setViewportSize(viewportOf(how))
    await look(page, gallery.origin, name, looks[how])
    const picture = await page.screenshot({ animations: 'disabled' })
    const file = `${name}-${how}`
    const place = join(kept, `${file}.png`)
    if (isToKeep) writeFileSync(place, picture)
    else if (!existsSync(place)) others.push(`${file}: no picture is kept`)
    else {
      const part = share(file, readFileSync(place), picture)
      if (part > maxShare) others.push(`${file}: ${(part * 100).toFixed(2)} % of its pixels`)
    }
  }
} finally {
  await browser.close()
  gallery.stop()
}
for (const other of others) console.log(`  looks different: ${other}`)
const { length: count } = comparedPictures
console.log(
  `  ${count} pictures ${isToKeep ? 'are kept' : `compared, ${others.length} look different`}`,
)
if (others.length > 0) {
  console.log(
    '  Look at dist/gallery. Where they are meant: scripts/snippet pictures keep, and commit them.',
  )
}
process.exit(others.length === 0 ? 0 : 1)
