import { expect } from 'bun:test'
import { until } from '../../scripts/support/until.ts'
import { afterAll, beforeAll, describe, test } from '../support/in-browser.ts'
import { allSent, Site, shown } from '../support/site.ts'

/** How people see, hear, use and answer every kind of step and question. */

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
- key: asks
  targeting: { urls: [{ match: exact, pattern: "/home?case=asks" }] }
  steps:
    - key: score
      kind: modal
      title: Would you recommend us?
      question: { type: rating, low: Never, high: Always, required: true }
    - key: use
      kind: modal
      title: What for?
      question: { type: choice, several: true, choices: [{ key: plan, label: Planning }, { key: talk, label: Talking }] }
    - key: why
      kind: banner
      title: Anything else?
      question: { type: text, longest: 20 }
- key: stars
  targeting: { urls: [{ match: prefix, pattern: /people }] }
  steps:
    - { key: stars, kind: modal, title: How was it?, question: { type: rating, scale: stars } }
    - { key: end, kind: modal, title: Thank you }
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

  test('arrows are reversed on a page from right to left, whose language the step uses', async () => {
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

test('on a phone a long text scrolls, and covers neither its element nor its buttons', async () => {
  const { page, card, button } = await open('/projects/new', { reducedMotion: 'reduce' })
  for (const viewport of [
    { width: 375, height: 667 },
    { width: 667, height: 320 },
  ]) {
    await page.setViewportSize(viewport)
    await page.reload()
    await card.waitFor()
    const boxOf = async (what: typeof card) => (await what.boundingBox())!
    const element = await boxOf(page.locator('[data-tour=new-project]'))
    const [drawn, done] = [await boxOf(card), await boxOf(button('Done'))]
    expect(drawn.y).toBeGreaterThan(element.y + element.height)
    expect(drawn.y + drawn.height).toBeLessThanOrEqual(viewport.height)
    expect(done.y + done.height).toBeLessThan(drawn.y + drawn.height)
  }
})

interface Answered {
  steps: { key: string; skipped: number; question?: Record<string, unknown> }[]
}

const questionsOf = async (key: string) => {
  const { steps } = (await site.numbers(key)) as unknown as Answered
  return steps.map(({ question, skipped }) => ({ ...question, skipped }))
}

describe('a question', () => {
  test('a required answer is enforced, can be selected by keys, and the last one counts', async () => {
    const { page, noticed } = await site.visit('/home?case=asks')
    const { title, button } = shown(page)
    await page.locator('[data-cairn] .question').waitFor()
    await page.evaluate(
      "window.received = []; cairn.on('question_answered', what => received.push([what.stepKey, what.answer]))",
    )
    await button('Next').click()
    await page.getByText('Please answer first.').waitFor()
    // The numbers have the focus, so arrows select a number instead of the next step.
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowRight')
    expect(await page.getByRole('radio', { checked: true }).getAttribute('aria-label')).toBe('2')
    await button('Next').click()
    await title.getByText('What for?').waitFor()
    await button('Back').click()
    await title.getByText('Would you recommend us?').waitFor()
    expect(await page.getByRole('radio', { name: '2', exact: true }).isChecked()).toBe(true)
    await page.getByRole('radio', { name: '10, Always' }).check()
    await button('Next').click()
    await page.getByLabel('Talking').check()
    await page.getByLabel('Planning').check()
    await button('Next').click()
    await page.getByRole('textbox', { name: 'Anything else?' }).fill('More of it, please, and soon')
    await button('Done').click()
    await shown(page).card.waitFor({ state: 'detached' })
    expect(await page.evaluate('received')).toEqual([
      ['score', 2],
      ['score', 10],
      ['use', ['plan', 'talk']],
      ['why', 'More of it, please,'],
    ])
    await allSent(page)
    await site.until('asks', ({ totals }) => totals.completions === 1)
    expect(await questionsOf('asks')).toMatchObject([
      { answers: 1, average: 10, nps: { score: 100, promoters: 1 } },
      {
        answers: 1,
        distribution: [
          { value: 'plan', count: 1 },
          { value: 'talk', count: 1 },
        ],
      },
      { type: 'text', answers: 1, distribution: [] },
    ])
    expect(noticed.complaints).toEqual([])
  })

  test('a question that fails to load blocks nobody, and appears once it loads', async () => {
    const { page } = await site.browser.page({ clock: true })
    let isDown = true
    let requests = 0
    await page.route('**/snippet-question-*', route => {
      requests++
      return isDown ? route.abort() : route.continue()
    })
    await page.goto(`${site.url}/people`)
    const { title, button } = shown(page)
    await title.getByText('How was it?').waitFor()
    await until(() => requests > 0)
    isDown = false
    await page.clock.runFor(2_500)
    await page.getByRole('radio', { name: '4/5' }).check()
    await button('Skip').click()
    await title.getByText('Thank you').waitFor()
    await button('Done').click()
    await allSent(page)
    await site.until('stars', ({ totals }) => totals.completions === 1)
    expect(await questionsOf('stars')).toMatchObject([
      { answers: 0, average: null, skipped: 1, nps: null },
      {},
    ])
  })
})
