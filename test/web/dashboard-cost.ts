/** What the dashboard costs a browser, with a month of the demo. Run by scripts/dashboard. */

import { Demo } from '../support/demo.ts'

const starts = 9
/** How long a first paint with its data should keep the main thread busy. Milliseconds. */
const maxMs = 300

const pages = [
  { path: '', shows: 'Needs attention' },
  { path: '/flows', shows: 'Numbers of the last 30 days' },
  { path: '/flows/welcome', shows: 'Where people leave' },
]

const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

const demo = await Demo.open()
try {
  /** How long the main thread runs tasks until the page shows its data, in milliseconds of thread time. */
  async function workOf(path: string, shows: string): Promise<number> {
    const { page } = await demo.page()
    const session = await page.context().newCDPSession(page)
    await session.send('Performance.enable', { timeDomain: 'threadTicks' })
    await page.goto(demo.home + path)
    await page.getByText(shows).first().waitFor()
    const { metrics } = await session.send('Performance.getMetrics')
    await page.context().close()
    return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0) * 1_000
  }

  console.log(
    `main thread until the data is shown, median of ${starts} starts, wanted ${maxMs} ms:`,
  )
  for (const { path, shows } of pages) {
    const times: number[] = []
    for (let i = 0; i < starts; i++) times.push(await workOf(path, shows))
    const range = `${Math.min(...times).toFixed(0)} to ${Math.max(...times).toFixed(0)}`
    console.log(
      `  ${(path || '/').padEnd(16)} ${median(times).toFixed(0).padStart(4)} ms (${range})`,
    )
  }
} finally {
  await demo.close()
}
process.exit(0)
