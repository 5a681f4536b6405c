import { expect } from 'bun:test'
import { type Page, pass } from '../support/browser.ts'
import { afterAll, beforeAll, test } from '../support/in-browser.ts'
import { Site, shown } from '../support/site.ts'

/** How steps find their element on pages that add it late, change it, or do not have it. */

/** A flow of one step for each case, by address; a visitor sees only theirs. */
const flowOf = (key: string, target: string, more = '') => `
- key: ${key}
  targeting: { urls: [{ match: exact, pattern: "/projects?case=${key}" }] }
  steps:
    - { key: look, title: Look here, target: ${target} ${more} }
    - { key: end, kind: modal, title: The end }
`

const cases = [
  flowOf('late', '{ selector: "#late", waitMs: 8000 }'),
  flowOf('skips', '{ selector: "#none", waitMs: 200 }'),
  flowOf('stops', '{ selector: "#none", waitMs: 200, onMissing: stop }'),
  flowOf('waits', '{ selector: "#none", waitMs: 200, onMissing: wait }'),
  flowOf('optional', '{ selector: "#none", waitMs: 200, required: false }'),
  flowOf('twice', '{ selector: ".column", waitMs: 200 }'),
  flowOf('second', '{ selector: ".column", nth: 1 }'),
  flowOf('worded', '{ selector: ".column h2", text: Doing }'),
  flowOf('shadow', '{ selector: "#deep", waitMs: 8000 }'),
  flowOf('hidden', '{ selector: "#veiled", waitMs: 300 }'),
  flowOf('redrawn', '{ selector: "#redrawn", waitMs: 8000 }'),
]

interface Checked {
  reports: { found: number }
  fingerprints: { match: number; gone: number }
}

let site: Site
beforeAll(async () => {
  site = await Site.open(cases.join(''))
})
afterAll(() => site.close())

/** Opens the page of a case, and prepares it before it shows the step. */
async function open(name: string, prepare: (page: Page) => Promise<unknown> = async () => {}) {
  const { page } = await site.visit(`/projects?case=${name}`, { clock: true })
  await prepare(page)
  return { page, ...shown(page) }
}

const add = (page: Page, id: string, style = '') =>
  page.evaluate(
    ([id, style]) => {
      const made = document.createElement('button')
      made.id = id as string
      made.textContent = 'Made late'
      made.style.cssText = style as string
      document.querySelector('main')?.append(made)
    },
    [id, style],
  )

const ringIsAround = async (page: Page, selector: string) => {
  const ring = await page.locator('[data-cairn] .ring').boundingBox()
  const element = await page.locator(selector).first().boundingBox()
  return Math.abs(ring!.x - element!.x) < 2 && Math.abs(ring!.y - element!.y) < 2
}

test('an element that appears late is waited for', async () => {
  const { page, title } = await open('late')
  await pass(page, 5_000)
  expect(await title.count()).toBe(0)
  await add(page, 'late')
  await title.getByText('Look here').waitFor()
  expect(await ringIsAround(page, '#late')).toBe(true)
})

test('a missing element is skipped, ends the flow, is waited for, or is optional, as its author said', async () => {
  const skips = await open('skips')
  await skips.title.getByText('The end').waitFor()
  await skips.page.close()
  const stops = await open('stops')
  const optional = await open('optional')
  await optional.title.getByText('Look here').waitFor()
  await optional.page.close()
  const waits = await open('waits')
  await pass(waits.page, 5_000)
  expect(await waits.title.count()).toBe(0)
  await add(waits.page, 'none')
  await waits.title.getByText('Look here').waitFor()
  await waits.page.close()
  expect(await stops.title.count()).toBe(0)
  await stops.page.close()

  const ended = await site.until('stops', ({ totals }) => totals.dismissals === 1)
  expect(ended.steps[0]).toMatchObject({ reached: 0, targetMissing: 1 })
  const skipped = await site.until('skips', ({ steps }) => steps[1]!.reached === 1)
  expect(skipped.steps[0]).toMatchObject({ reached: 0, targetMissing: 1 })
})

test('a step points at none of several elements, unless place or text tell them apart', async () => {
  const twice = await open('twice')
  await twice.title.getByText('The end').waitFor()
  await twice.page.close()
  const second = await open('second')
  await second.title.getByText('Look here').waitFor()
  expect(await ringIsAround(second.page, '.column:nth-child(2)')).toBe(true)
  await second.page.close()
  const worded = await open('worded')
  await worded.title.getByText('Look here').waitFor()
  expect(await ringIsAround(worded.page, '.column:nth-child(2) h2')).toBe(true)
})

test('open shadow roots are searched', async () => {
  const { page, title } = await open('shadow')
  await page.evaluate(() => {
    const host = document.createElement('div')
    const root = host.attachShadow({ mode: 'open' })
    const deep = document.createElement('button')
    deep.id = 'deep'
    deep.textContent = 'Deep'
    root.append(deep)
    document.querySelector('main')?.append(host)
  })
  await title.getByText('Look here').waitFor()
})

test('a hidden element is not pointed at', async () => {
  const { title } = await open('hidden', page => add(page, 'veiled', 'display: none'))
  await title.getByText('The end').waitFor()
})

test('an element that is redrawn is followed', async () => {
  const { page, title, card } = await open('redrawn', page => add(page, 'redrawn'))
  await title.getByText('Look here').waitFor()
  await page.evaluate(() => document.querySelector('#redrawn')?.remove())
  await card.waitFor({ state: 'detached' })
  await add(page, 'redrawn')
  await title.getByText('Look here').waitFor()
  await page.close()
  const { steps } = await site.until('redrawn', ({ totals }) => totals.starts === 1)
  expect(steps[0]).toMatchObject({ reached: 1 })
})

test('health is reported once per step and run', async () => {
  const { page, title } = await open('second')
  await title.getByText('Look here').waitFor()
  await page.reload()
  await title.getByText('Look here').waitFor()
  await page.close()
  const { stdout } = await site.place.run(['steps', 'check', '--flow', 'second', '--json'])
  const [step] = (JSON.parse(stdout) as { steps: Checked[] }).steps
  // One report from an earlier test, and one from this test in spite of its reload.
  expect(step?.reports.found).toBe(2)
  expect(step?.fingerprints).toMatchObject({ match: 1, gone: 0 })
})
