import { expect } from 'bun:test'
import { afterAll, beforeAll, describe, test } from '../support/in-browser.ts'
import { allSent, Site, shown } from '../support/site.ts'

/** Every kind of step, as people see, hear and use it. */

const flows = `
- key: kinds
  targeting: { urls: [{ match: exact, pattern: /home }] }
  steps:
    - { key: modal, kind: modal, title: A modal, body: "With a [link](https://example.com/help) and <b>no HTML</b>." }
    - { key: tip, title: A tip, body: Beside its element., target: { selector: "[data-tour=new-project]" } }
    - { key: banner, kind: banner, title: A banner, body: Across the page. }
    - { key: spot, kind: hotspot, title: A spot, target: { selector: "nav a[href='/projects']" } }
- key: story
  targeting: { urls: [{ match: exact, pattern: /projects/new }] }
  steps:
    - { key: long, title: A story, body: "${'A sentence of a story. '.repeat(80)}", target: { selector: "[data-tour=new-project]" } }
- key: heard
  name: Onboarding 2026, hint C
  title: A hint
  targeting: { urls: [{ match: exact, pattern: "/projects?case=heard" }] }
  steps: [{ key: only-text, kind: modal, body: No title of its own. }]
- key: unnamed
  name: As it is called
  kind: checklist
  targeting: { urls: [{ match: exact, pattern: "/projects?case=unnamed" }] }
  checklist: { items: [{ key: a, title: A }] }
- key: list
  kind: checklist
  name: Onboarding 2026, list B
  title: Get going
  targeting: { urls: [{ match: exact, pattern: /settings/notifications }] }
  checklist:
    order: sequence
    items:
      - { key: invite, title: Invite somebody, description: One is **enough**., completeOn: { event: teammate_invited } }
      - { key: guide, title: Read the guide }
`

let site: Site
beforeAll(async () => {
  site = await Site.open(flows)
})
afterAll(() => site.close())

const open = async (path: string, options = {}) => {
  const visitor = await site.visit(path, options)
  return { ...visitor, ...shown(visitor.page) }
}

/** What has the keyboard focus: the text of a control, or the role of a card. */
const focused = (page: Awaited<ReturnType<typeof open>>['page']) =>
  page.evaluate(() => {
    const inside = document.querySelector('[data-cairn]')?.shadowRoot?.activeElement
    const element = inside ?? document.activeElement
    return (
      element?.getAttribute('role') ?? element?.getAttribute('aria-label') ?? element?.textContent
    )
  })

describe('by keyboard alone', () => {
  test('Tab stays inside, arrows lead on and back, Escape closes, and the focus returns', async () => {
    const { page, title, card } = await open('/projects')
    await page.locator('nav a[href="/home"]').focus()
    await page.keyboard.press('Enter')
    await title.getByText('A modal').waitFor()
    const seen: (string | null | undefined)[] = []
    for (let i = 0; i < 5; i++) {
      await page.keyboard.press('Tab')
      seen.push(await focused(page))
    }
    expect(new Set(seen)).toEqual(new Set(['link', 'Next', 'Close']))
    await page.keyboard.press('ArrowRight')
    await title.getByText('A tip').waitFor()
    expect(await focused(page)).toBe('dialog')
    await page.keyboard.press('ArrowLeft')
    await title.getByText('A modal').waitFor()
    await page.keyboard.press('Escape')
    await card.waitFor({ state: 'detached' })
    expect(await focused(page)).toBe('Home')
  })

  test('arrows lead the other way on a page from right to left, in the words of its language', async () => {
    const { page, says, button } = await open('/projects')
    await page.evaluate("Object.assign(document.documentElement, { dir: 'rtl', lang: 'he' })")
    await page.locator('nav a[href="/home"]').click()
    await says('A modal')
    await button('הבא').click()
    await says('A tip')
    await page.keyboard.press('ArrowRight')
    await says('A modal')
  })

  test('typing is not interrupted', async () => {
    const { page, title } = await open('/settings/people')
    await page.locator('#address').focus()
    await page.evaluate(() => history.pushState(null, '', '/home'))
    await title.getByText('A modal').waitFor()
  })
})

describe('for screen readers', () => {
  test('a step is a dialog with a name and a text from Markdown; a banner and a hotspot are announced', async () => {
    const { page, title, button } = await open('/home')
    await title.getByText('A modal').waitFor()
    const dialog = page.getByRole('dialog', { name: 'A modal' })
    expect(await dialog.getAttribute('aria-describedby')).toBe('body')
    expect(await dialog.locator('.body').textContent()).toBe('With a link and <b>no HTML</b>.')
    expect(await dialog.locator('a').getAttribute('rel')).toBe('noopener noreferrer')
    await button('Next').click()
    await page.getByRole('dialog', { name: 'A tip' }).waitFor()
    await button('Next').click()
    await page.getByRole('region', { name: 'A banner' }).waitFor()
    const live = page.locator('[data-cairn] [role=status]')
    expect(await live.textContent()).toBe('A banner. Across the page.')
    await button('Next').click()
    const spot = page.getByRole('button', { name: 'A spot' })
    expect(await spot.getAttribute('aria-expanded')).toBe('false')
    await spot.click()
    expect(await spot.getAttribute('aria-expanded')).toBe('true')
    await page.getByRole('dialog', { name: 'A spot' }).waitFor()
  })
})

describe('a checklist', () => {
  test('opens, ticks in its order, closes, and is done with the last item', async () => {
    const { page, panel, launcher } = await open('/settings/notifications')
    await panel.waitFor()
    const guide = panel.getByRole('button', { name: 'Read the guide' })
    expect(await guide.isDisabled()).toBe(true)
    await panel.getByRole('button', { name: 'Close' }).click()
    await launcher.getByText('0 of 2').waitFor()
    await page.evaluate("cairn.track('teammate_invited')")
    await launcher.getByText('1 of 2').waitFor()
    await launcher.click()
    await guide.click()
    await panel.waitFor({ state: 'detached' })
    expect(await launcher.count()).toBe(0)
    await allSent(page)
    await page.close()
    const { totals, checklist } = await site.until('list', ({ totals }) => totals.completions === 1)
    expect(totals).toMatchObject({ starts: 1, completions: 1 })
    expect(checklist).toMatchObject({ completedAll: 1 })
    expect(checklist?.items.map(({ completions }) => completions)).toEqual([1, 1])
  })
})

describe('what people see as the name of a flow', () => {
  const called = (name: string) => ({ name, exact: true })

  test('is its title: above a list, on its button, and for screen readers on a step without one', async () => {
    const { page, launcher, panel } = await open('/settings/notifications?as=reader')
    await page.getByRole('dialog', called('Get going')).waitFor()
    await panel.getByRole('heading', called('Get going')).waitFor()
    await panel.getByRole('button', { name: 'Close' }).click()
    expect(await launcher.textContent()).toBe('Get going · 0 of 2')
    await page.goto(`${site.url}/projects?case=heard`)
    await page.getByRole('dialog', called('A hint')).waitFor()
  })

  test('is its name if it has no title, as flows had none in older releases', async () => {
    const { panel } = await open('/projects?case=unnamed')
    await panel.getByRole('heading', called('As it is called')).waitFor()
  })
})

test.each([
  ['a phone', { width: 375, height: 667 }],
  ['a phone on its side', { width: 667, height: 320 }],
])(
  'on %s a long text scrolls, and hides neither its element nor its buttons',
  async (_, viewport) => {
    const { page, card, button } = await open('/projects/new', {
      viewport,
      reducedMotion: 'reduce',
    })
    await card.waitFor()
    const boxOf = async (what: typeof card) => (await what.boundingBox())!
    const element = await boxOf(page.locator('[data-tour=new-project]'))
    const [drawn, done] = [await boxOf(card), await boxOf(button('Done'))]
    expect(drawn.y).toBeGreaterThan(element.y + element.height)
    expect(drawn.y + drawn.height).toBeLessThanOrEqual(viewport.height)
    expect(done.y + done.height).toBeLessThan(drawn.y + drawn.height)
  },
)
