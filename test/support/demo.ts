import { FakeClock, fakeTimeLibrary } from '../../scripts/support/fake-clock.ts'
import { Workplace } from './binary.ts'
import { type Noticed, type Page, TestBrowser } from './browser.ts'

/** The binary with its demo, and a browser that is signed in to it. */

type Options = NonNullable<Parameters<TestBrowser['page']>[0]>

interface OpenOptions {
  at?: number
  env?: Record<string, string>
  ofBrowser?: Record<string, string>
}

/** A fixed time for the server and all pages, whatever the time is elsewhere. */
interface FixedTime {
  clock: FakeClock
  /** Epoch milliseconds. */
  at: number
}

export class Demo {
  private constructor(
    readonly place: Workplace,
    readonly browser: TestBrowser,
    /** The overview of the demo's organisation. */
    readonly home: string,
    /** The site that shows its flows. */
    readonly site: string,
    /** The server's process. */
    readonly pid: number,
    private readonly signedIn: Options['storageState'],
    private readonly time: FixedTime | null,
  ) {}

  /**
   * Starts the demo, waits for its month of history, and signs in by the link that it prints.
   *
   * @param at the time for the demo, epoch milliseconds; now by default
   * @param env additions to the demo's environment
   * @param ofBrowser additions to the browser's environment
   */
  static async open({ at, env, ofBrowser }: OpenOptions = {}): Promise<Demo> {
    const place = new Workplace()
    const browser = await TestBrowser.open(ofBrowser)
    const time = at === undefined ? null : { at, clock: fakeClockIn(place) }
    time?.clock.setTo(time.at)
    const ports = ['--port', '0', '--management-port', '0', '--site-port', '0']
    const demo = await place.command(['demo', ...ports], { ...time?.clock.env, ...env })
    const { page } = await browser.page()
    const { link, site } = await addressesOf(demo.stdout)
    await page.goto(link)
    await page.getByRole('button', { name: 'Sign in with this link' }).click()
    await page.getByText('Needs attention').waitFor()
    const { origin, pathname } = new URL(page.url())
    const signedIn = await page.context().storageState()
    await page.context().close()
    return new Demo(place, browser, origin + pathname, site, demo.pid, signedIn, time)
  }

  /** A page of somebody who is signed in, not at any address yet. */
  async page(options: Options = {}): Promise<{ page: Page; noticed: Noticed }> {
    const made = { storageState: this.signedIn, timezoneId: 'Europe/Berlin', ...options }
    const { page, noticed } = await this.browser.page(made)
    if (this.time) {
      this.time.clock.setTo(this.time.at)
      await page.clock.setFixedTime(this.time.at)
    }
    return { page, noticed }
  }

  async close(): Promise<void> {
    await this.browser.close()
    await this.place.close()
  }
}

function fakeClockIn(place: Workplace): FakeClock {
  const library = fakeTimeLibrary()
  if (!library) throw new Error('there is no libfaketime on this machine (Debian: faketime)')
  return new FakeClock(library, place.folder)
}

/** The link into the dashboard and the site's address, which the demo prints when its events are stored. */
async function addressesOf(stdout: ReadableStream<Uint8Array>) {
  let printed = ''
  for await (const part of stdout.pipeThrough(new TextDecoderStream() as never)) {
    printed += part
    const [link] = /http\S+\/sign-in#\S+(?=\s)/.exec(printed) ?? []
    const [, site] = /^ +site +(\S+) /m.exec(printed) ?? []
    if (link && site) return { link, site }
  }
  throw new Error(`The demo printed no addresses: ${printed}`)
}
