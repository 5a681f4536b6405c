import { type Browser, chromium } from 'playwright-core'
import type { Program } from './program.ts'

/** Apart from `program.ts`, which must load on machines without this package. */
export type { Browser, BrowserContext, Locator, Page, Request } from 'playwright-core'

/**
 * What a browser does for itself, which no page sees: asking its maker over the network, drawing its
 * address bar's lists, which takes a third of a new page's time, and starting a process for a page
 * that may come, which takes a sixth. It takes the place of Playwright's own list.
 */
const ownBusiness = [
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'AimEnabled',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PreconnectToSearch',
  'SpareRendererForSitePerProcess',
].join()

/** Opens a browser without a window. */
export const launch = (program: Program): Promise<Browser> =>
  chromium.launch({
    ...program,
    timeout: 60_000,
    // Neither a sandbox, which containers do not let it have, nor a graphics card.
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--font-render-hinting=none',
      `--disable-features=${ownBusiness}`,
    ],
  })
