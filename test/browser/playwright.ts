/** Apart from `program.ts`, which must load on machines without this package. */
export {
  type Browser,
  type BrowserContext,
  chromium,
  type Locator,
  type Page,
} from 'playwright-core'
