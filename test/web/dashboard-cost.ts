/** What the dashboard costs a browser, with a month of the demo. Run by scripts/dashboard. */

import { Workplace } from '../support/binary.ts'
import { TestBrowser } from '../support/browser.ts'

const starts = 9
/** What a first paint with its data should take of the main thread, milliseconds. */
const mostMs = 300

const pages = [
  { path: '', shows: 'Needs a person' },
  { path: '/flows', shows: 'Numbers of the last 30 days' },
  { path: '/flows/welcome', shows: 'Where people leave' },
]

const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

/** The link that the demo prints when its events are stored. */
async function linkOf(stdout: ReadableStream<Uint8Array>): Promise<string> {
  let said = ''
  for await (const part of stdout.pipeThrough(new TextDecoderStream() as never)) {
    said += part
    const [link] = /http\S+\/sign-in#\S+(?=\s)/.exec(said) ?? []
    if (link) return link
  }
  throw new Error(`The demo printed no link: ${said}`)
}

const place = new Workplace()
const browser = await TestBrowser.open()
try {
  const demo = await place.command(['demo', '--port', '0', '--management-port', '0'])
  const link = await linkOf(demo.stdout)
  const { page: door } = await browser.page()
  await door.goto(link)
  await door.getByRole('button', { name: 'Sign in with this link' }).click()
  await door.getByText('Needs a person').waitFor()
  const home = new URL(door.url())
  const storageState = await door.context().storageState()

  /** The main thread's tasks until the page shows its data, in milliseconds of its own time. */
  async function workOf(path: string, shows: string): Promise<number> {
    const { page } = await browser.page({ storageState })
    const session = await page.context().newCDPSession(page)
    await session.send('Performance.enable', { timeDomain: 'threadTicks' })
    await page.goto(home.origin + home.pathname + path)
    await page.getByText(shows).first().waitFor()
    const { metrics } = await session.send('Performance.getMetrics')
    await page.context().close()
    return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0) * 1_000
  }

  console.log(
    `main thread until the data is shown, median of ${starts} starts, wanted ${mostMs} ms:`,
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
  await browser.close()
  await place.close()
}
process.exit(0)
