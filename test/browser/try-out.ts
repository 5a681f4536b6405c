import { type Browser, launch } from './playwright.ts'
import type { Program } from './program.ts'

/** The oldest version that the snippet runs in, by its major number. */
const oldest = 122

/** Letters of several scripts: most machines lack a font for some of them. */
const text = 'Grüße, 日本'

export interface Trial {
  /** Such as `156.0.8078.79`, or empty where it has not told. */
  version: string
  /** Why tests cannot run in it, or null where they can. */
  fault: string | null
}

/** Opens the browser, enters text on a page, and looks whether it is drawn. */
export async function tryOut(program: Program): Promise<Trial> {
  let browser: Browser
  try {
    browser = await launch(program)
  } catch (error) {
    return { version: '', fault: `it does not start: ${lastWords(error)}` }
  }
  const version = browser.version()
  try {
    if (Number.parseInt(version, 10) < oldest) {
      return { version, fault: `the snippet needs version ${oldest}` }
    }
    return { version, fault: (await drawsText(browser)) ? null : 'it draws no text' }
  } catch (error) {
    return { version, fault: `text cannot be entered in it: ${firstLine(error)}` }
  } finally {
    await browser.close().catch(() => {})
  }
}

async function drawsText(browser: Browser): Promise<boolean> {
  const page = await browser.newPage()
  await page.setContent(`<span>${text}</span> <input>`)
  const input = page.locator('input')
  await input.pressSequentially(text)
  await page.screenshot()
  const drawn = await page.locator('span').boundingBox()
  return Boolean(drawn?.width && drawn.height) && (await input.inputValue()) === text
}

/** Without Playwright's name for what failed. */
const firstLine = (error: unknown) =>
  Bun.stripANSI((error as Error).message)
    .split('\n')[0]!
    .replace(/^\w+: /, '')

/** What the browser itself said last, by the log in Playwright's message, or else the message's first line. */
function lastWords(error: unknown): string {
  const own = Bun.stripANSI((error as Error).message).match(/(?<=\[pid=\d+\]\[err\] ).+/g)
  return own?.at(-1) ?? firstLine(error)
}
