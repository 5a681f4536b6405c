import { readFlowFile } from '../../src/core/flow/file.ts'
import type { Flow } from '../../src/core/flow/flow.ts'
import { pageFlow } from '../../src/core/flow/forms.ts'
import type { Page, TestBrowser } from '../support/browser.ts'

/**
 * A bare page with the snippet's stage on it, and no server behind it: many situations are tried on one
 * page, in whichever browser.
 */
export async function serveStage() {
  const entry = `${import.meta.dir}/stage-page.ts`
  const { outputs } = await Bun.build({ entrypoints: [entry], target: 'browser' })
  const script = await outputs[0]!.text()
  const html =
    '<!doctype html><html lang="en"><title>Stage</title><link rel="icon" href="data:,">' +
    '<meta name="viewport" content="width=device-width"><body><script type="module" src="/stage.js"></script>'
  const files: Record<string, [text: string, type: string]> = {
    '/': [html, 'text/html; charset=utf-8'],
    '/stage.js': [script, 'text/javascript'],
    '/picture.svg': [
      '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 2 1"/>',
      'image/svg+xml',
    ],
  }
  const server = Bun.serve({
    port: 0,
    hostname: 'localhost',
    fetch({ url }) {
      const [text, type] = files[new URL(url).pathname] ?? files['/']!
      return new Response(text, { headers: { 'Content-Type': type } })
    },
  })
  return { url: server.url.href, stop: () => server.stop(true) }
}

const published = { version: 1, publishedAt: Date.parse('2026-11-20T09:30:00.000Z') }

/** A flow with these steps, as pages get it. */
export function flowOf(steps: string): Flow {
  const { flows } = readFlowFile(`- key: flow\n  steps: ${steps}\n`)
  return pageFlow({ definition: flows[0]!, ...published })
}

/** Opens that page. */
export async function openStage(
  browser: TestBrowser,
  url: string,
  options?: Parameters<TestBrowser['page']>[0],
) {
  const { page } = await browser.page(options)
  await page.goto(url)
  await page.locator('html[data-ready]').waitFor({ state: 'attached' })
  return page
}

/** Fills the page, and shows a flow with these steps on it, in place of what is shown. */
export async function play(page: Page, html: string, steps: string): Promise<void> {
  const call = (name: string, what: unknown) => page.evaluate(`${name}(${JSON.stringify(what)})`)
  await page.evaluate('clear()')
  await call('fill', html)
  await call('show', flowOf(steps))
}

/** Waits until the step with this title is shown; null for none. */
export const shows = (page: Page, title: string | null): Promise<unknown> =>
  page.waitForFunction(`title() === ${JSON.stringify(title)}`)
