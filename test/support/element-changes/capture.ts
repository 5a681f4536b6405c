/**
 * Looks at every page of `pages.ts` with a browser, as a snippet would, and writes what it saw to
 * `test/fixtures/element-changes.json`. Tests read that file and need no browser; after a change of
 * the pages: `CHROMIUM=chromium bun test/support/element-changes/capture.ts`.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { changes } from './pages.ts'

const here = import.meta.dir
const folder = mkdtempSync(join(tmpdir(), 'cairn-capture-'))
try {
  // Reported in the title, because that is the one text of a page without any HTML in it.
  const script = `${await Bun.file(join(here, 'look.js')).text()}
    const tell = value => { document.title = encodeURIComponent(JSON.stringify(value)) }
    capture(${JSON.stringify(changes)}).then(tell, error => tell({ failed: String(error) }))`
  const file = join(folder, 'page.html')
  await Bun.write(file, `<!doctype html><body><script>${script.replaceAll('</', '<\\/')}</script>`)
  const browser = Bun.spawn(
    [
      process.env.CHROMIUM ?? 'chromium',
      ...['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-sync'],
      ...['--disable-background-networking', '--disable-component-update'],
      `--user-data-dir=${join(folder, 'profile')}`,
      ...['--virtual-time-budget=20000', '--dump-dom', `file://${file}`],
    ],
    { stdout: 'pipe', stderr: 'ignore' },
  )
  const dom = await new Response(browser.stdout).text()
  const title = /<title>([\s\S]*?)<\/title>/.exec(dom)?.[1] ?? ''
  const prints: Record<string, unknown> = JSON.parse(decodeURIComponent(title))
  if ('failed' in prints) throw new Error(String(prints.failed))
  const lines = Object.entries(prints).map(
    ([name, print]) => `${JSON.stringify(name)}: ${JSON.stringify(print)}`,
  )
  await Bun.write(join(here, '../../fixtures/element-changes.json'), `{\n${lines.join(',\n')}\n}\n`)
  process.stdout.write(`captured ${lines.length} changes\n`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
