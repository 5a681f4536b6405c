/** What the snippet costs a page. Run by scripts/snippet. */

import { Site, shown } from '../support/site.ts'
import { maxPageBytes, maxStageBytes, snippetSizes } from '../support/snippet-sizes.ts'

const elements = 5_000
const starts = 9
/** The time by which a page has done its work at the start. Milliseconds. */
const settleMs = 700
/** How long a start may keep the main thread busy if no flow is due. Milliseconds. */
const maxStartMs = 10

const flows = `
key: due
targeting: { urls: [{ match: prefix, pattern: /due }] }
steps: [{ key: last, title: The last one, target: { selector: "#e${elements - 1}" } }]
`

/** A page with a table, as applications have them, without the snippet. */
const html = `<!doctype html><html lang="en"><title>Many</title><main>${Array.from(
  { length: elements / 5 },
  (_, row) =>
    `<div class="row r${row}">${Array.from(
      { length: 4 },
      (_, cell) => `<span id="e${row * 5 + cell + 1}" class="cell">${row}, ${cell}</span>`,
    ).join('')}</div>`,
).join('')}</main>`

const kib = (bytes: number) => `${(bytes / 1024).toFixed(1)} KiB`.padStart(10)
const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

const sizes = snippetSizes()
console.log(`${''.padEnd(26)}${['raw', 'gzip', 'brotli'].map(name => name.padStart(10)).join('')}`)
for (const { what, raw, gzip, brotli } of sizes) {
  console.log(`${what.padEnd(26)}${kib(raw)}${kib(gzip)}${kib(brotli)}`)
}
/** Prints whether the size of a part stays within its bound. */
function isWithin(name: string, of: string, most: number): boolean {
  const bytes = sizes.find(({ what }) => what === of)?.gzip ?? Number.POSITIVE_INFINITY
  const isHeld = bytes <= most
  console.log(`${name.padEnd(26)}${kib(most).padStart(20)}  ${isHeld ? 'held' : 'BROKEN'}`)
  return isHeld
}
const isSmall = [
  isWithin('bound, on every page', 'on every page', maxPageBytes),
  isWithin('bound, on demand', 'the renderer, on demand', maxStageBytes),
].every(Boolean)

/** The main thread's work in milliseconds of thread time, so that other programs are not counted. */
async function workOfStart(site: Site, pages: string, path: string, script: string) {
  const { page } = await site.browser.page()
  await page.goto(pages + path)
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  const work = async () => {
    const { metrics } = await session.send('Performance.getMetrics')
    return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0) * 1_000
  }
  await Bun.sleep(settleMs)
  // Otherwise the page's own garbage could be collected during the measurement.
  await session.send('HeapProfiler.collectGarbage')
  await Bun.sleep(settleMs)
  const before = await work()
  // As text, because this file has no types of the DOM.
  await page.evaluate(`{
    const tag = document.createElement('script')
    tag.src = '${script}'
    tag.dataset.key = '${site.snippetKey}'
    document.head.append(tag)
  }`)
  if (path === '/due') await shown(page).card.waitFor()
  await Bun.sleep(settleMs)
  const after = await work()
  await page.context().close()
  return after - before
}

const site = await Site.open(flows)
const pages = Bun.serve({
  hostname: 'localhost',
  port: 0,
  fetch: ({ url }) =>
    url.endsWith('.js')
      ? new Response('', { headers: { 'Content-Type': 'text/javascript' } })
      : new Response(html, { headers: { 'Content-Type': 'text/html' } }),
})
try {
  const url = `http://localhost:${pages.port}`
  const script = `${site.server.url}/snippet.js`
  const idle: number[] = []
  const due: number[] = []
  for (let i = 0; i < starts; i++) {
    // The cost of any script, and of the page itself, is subtracted because it is not the snippet's.
    const none = await workOfStart(site, url, '/other', `${url}/empty.js`)
    idle.push((await workOfStart(site, url, '/other', script)) - none)
    due.push((await workOfStart(site, url, '/due', script)) - none)
  }
  const told = (values: number[]) =>
    `${median(values).toFixed(1)} ms (${Math.min(...values).toFixed(1)} to ${Math.max(...values).toFixed(1)})`
  const isQuick = median(idle) < maxStartMs
  console.log(`\nmain thread, a page of ${elements} elements, median of ${starts} starts:`)
  console.log(
    `  no flow due      ${told(idle)}  bound ${maxStartMs} ms ${isQuick ? 'held' : 'BROKEN'}`,
  )
  console.log(`  a step shown     ${told(due)}`)
} finally {
  pages.stop(true)
  await site.close()
}
process.exit(isSmall ? 0 : 1)
