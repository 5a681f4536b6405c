import { expect } from 'bun:test'
import { until } from '../../scripts/support/until.ts'
import { afterAll, beforeAll, test } from '../support/in-browser.ts'
import { Site, shown } from '../support/site.ts'

/** Questions in a real browser: asked, answered, skipped, and counted. */

const flows = `
- key: asks
  targeting: { urls: [{ match: prefix, pattern: /home }] }
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
- key: late
  targeting: { urls: [{ match: prefix, pattern: /people }] }
  steps:
    - { key: stars, kind: modal, title: How was it?, question: { type: rating, scale: stars } }
    - { key: end, kind: modal, title: Thank you }
`

interface Asked {
  steps: { key: string; skipped: number; question?: Record<string, unknown> }[]
}

let site: Site
beforeAll(async () => {
  site = await Site.open(flows)
})
afterAll(() => site.close())

const questionsOf = async (key: string) => {
  const { steps } = (await site.numbers(key)) as unknown as Asked
  return steps.map(({ question, skipped }) => ({ ...question, skipped }))
}

test('a required answer is enforced; keys choose it, and the last answer counts', async () => {
  const { page, noticed } = await site.visit('/home')
  const { title, button } = shown(page)
  await page.locator('[data-cairn] .question').waitFor()
  await page.evaluate(
    "window.told = []; cairn.on('question_answered', what => told.push([what.stepKey, what.answer]))",
  )
  await button('Next').click()
  await page.getByText('Please answer first.').waitFor()
  // The focus was moved to the numbers, where arrows choose a number instead of leading on.
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
  expect(await page.evaluate('told')).toEqual([
    ['score', 2],
    ['score', 10],
    ['use', ['plan', 'talk']],
    ['why', 'More of it, please,'],
  ])
  await page.close()
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

test('a question that cannot be loaded holds up nobody, and appears once it can be', async () => {
  const { page } = await site.browser.page({ clock: true })
  let isDown = true
  let asked = 0
  await page.route('**/snippet-question-*', route => {
    asked++
    return isDown ? route.abort() : route.continue()
  })
  await page.goto(`${site.url}/people`)
  const { title, button } = shown(page)
  await title.getByText('How was it?').waitFor()
  await until(() => asked > 0)
  isDown = false
  await page.clock.runFor(2_500)
  await page.getByRole('radio', { name: '4/5' }).check()
  await button('Skip').click()
  await title.getByText('Thank you').waitFor()
  await button('Done').click()
  await page.clock.runFor(6_000)
  await page.close()
  await site.until('late', ({ totals }) => totals.completions === 1)
  expect(await questionsOf('late')).toMatchObject([
    { answers: 0, average: null, skipped: 1, nps: null },
    {},
  ])
})
