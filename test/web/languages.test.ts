import { expect } from 'bun:test'
import { afterAll, beforeAll, describe, test } from '../support/in-browser.ts'
import { allSent, Site, shown } from '../support/site.ts'

/** Flows in the language of their visitors. */

const flows = `
- key: tour
  locale: en
  targeting: { urls: [{ match: exact, pattern: /home }] }
  steps:
    - key: one
      kind: modal
      title: Hello
      buttons: [{ label: Go on, action: next }]
    - { key: two, title: Start here, body: A project., target: { selector: "[data-tour=new-project]" } }
  texts:
    de:
      steps:
        one: { title: Hallo, buttons: [Weiter so] }
        two: { title: Hier beginnen, body: Ein Projekt. }
    he:
      steps: { one: { title: שלום }, two: { title: מתחילים כאן, body: פרויקט. } }
- key: list
  locale: en
  kind: checklist
  title: First steps
  targeting: { urls: [{ match: exact, pattern: /projects }] }
  checklist: { items: [{ key: a, title: Invite }, { key: b, title: Read }] }
  texts:
    de: { title: Erste Schritte, items: { a: { title: Einladen } } }
- key: untold
  targeting: { urls: [{ match: exact, pattern: /settings/notifications }] }
  steps: [{ key: one, kind: modal, title: As ever }]
- key: english
  targeting: { urls: [{ match: exact, pattern: /people }] }
  steps:
    - key: one
      kind: modal
      title: Will you recommend us?
      body: "Tell us, please.\\n\\n- In a word!"
      question: { type: choice, choices: [{ key: a, label: Sure! }, { key: b, label: No. }] }
      buttons: [{ label: Go!, action: next }]
- key: list-in-english
  kind: checklist
  title: Ready?
  targeting: { urls: [{ match: exact, pattern: /people }] }
  checklist: { items: [{ key: a, title: Invite!, description: All of them. }] }
- key: arabic
  targeting: { urls: [{ match: exact, pattern: /settings/billing }] }
  steps: [{ key: one, kind: modal, title: "هل توصي بنا؟", body: "مع Harbor!", buttons: [{ label: "Harbor نعم!", action: next }] }]
`

let site: Site
beforeAll(async () => {
  site = await Site.open(flows)
})
afterAll(() => site.close())

type Visitor = Awaited<ReturnType<Site['visit']>>
const open = async (path: string, options = {}) => {
  const visitor = await site.visit(path, options)
  return { ...visitor, ...shown(visitor.page) }
}

/** Switches the page's language, as an application does when its visitor chooses one. */
const speak = (page: Visitor['page'], lang: string) =>
  page.evaluate(`document.documentElement.lang = '${lang}'`)

const rootOf = (page: Visitor['page']) =>
  page
    .locator('[data-cairn] .root:not(.live)')
    .last()
    .evaluate(root => [(root as HTMLElement).lang, (root as HTMLElement).dir])

describe('a tour', () => {
  test('follows the page to another language and back, and is counted once', async () => {
    const { page, title, button, card } = await open('/home?as=reader', { locale: 'en-GB' })
    await title.getByText('Hello', { exact: true }).waitFor()
    expect(await rootOf(page)).toEqual(['en', 'ltr'])
    await speak(page, 'de-CH')
    await title.getByText('Hallo', { exact: true }).waitFor()
    expect(await rootOf(page)).toEqual(['de', 'ltr'])
    await button('Weiter so').click()
    await title.getByText('Hier beginnen').waitFor()
    await card.getByText('2 von 2').waitFor()
    await button('Fertig').waitFor()
    await speak(page, 'he')
    await title.getByText('מתחילים כאן').waitFor()
    expect(await rootOf(page)).toEqual(['he', 'rtl'])
    expect(await card.evaluate(element => getComputedStyle(element).direction)).toBe('rtl')
    await speak(page, 'ja')
    await title.getByText('Start here').waitFor()
    await button('Done').click()
    await allSent(page)
    const { totals, steps } = await site.until('tour', ({ totals }) => totals.completions === 1)
    expect(totals).toMatchObject({ starts: 1, completions: 1 })
    expect(steps.map(({ reached }) => reached)).toEqual([1, 1])
  })

  test('shows missing texts in the flow’s own language, and uses the browser’s language if it lacks the page’s', async () => {
    const { page, title, button } = await open('/home?as=half', { locale: 'de-AT' })
    await speak(page, 'he')
    await title.getByText('שלום').waitFor()
    await button('Go on').waitFor()
    await speak(page, 'ja')
    await title.getByText('Hallo', { exact: true }).waitFor()
  })
})

test('a checklist follows the page, and keeps what is ticked', async () => {
  const { page, panel } = await open('/projects?as=lister')
  await panel.getByRole('button', { name: 'Invite' }).click()
  await panel.getByText('1 of 2').waitFor()
  await speak(page, 'de')
  await panel.getByRole('heading', { name: 'Erste Schritte' }).waitFor()
  await panel.getByText('Einladen').waitFor()
  await panel.getByText('1 von 2').waitFor()
  // An item that is not translated says which language it is in.
  const languages = await panel
    .locator('li')
    .evaluateAll(rows => rows.map(row => row.getAttribute('lang')))
  expect(languages).toEqual(['de', 'en'])
})

/** Where the last sign of each text stands: behind the others as its own language is written. */
const ends = (page: Visitor['page'], selectors: string) =>
  page.locator(`[data-cairn] :is(${selectors})`).evaluateAll(elements =>
    elements.map(element => {
      const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT)
      const text = texts.nextNode() as Text
      const placeOf = (at: number) => {
        const range = document.createRange()
        range.setStart(text, at)
        range.setEnd(text, at + 1)
        return range.getBoundingClientRect().left
      }
      const isRight = placeOf(text.length - 1) > placeOf(0)
      return `${text.data} ends on the ${isRight ? 'right' : 'left'}`
    }),
  )

/** Makes the page one in Arabic, or in English, and waits until what is shown has followed. */
async function turn(page: Visitor['page'], dir: 'ltr' | 'rtl') {
  const lang = dir === 'rtl' ? 'ar' : 'en-GB'
  await page.evaluate(said => Object.assign(document.documentElement, said), { dir, lang })
  await page.locator(`[data-cairn] .root[dir=${dir}][lang=${lang}]`).waitFor({ state: 'attached' })
}

describe('texts that do not say their language end where they are written to', () => {
  test('in English on an Arabic page, whose card is laid out from the right', async () => {
    const { page, card, panel } = await open('/people?as=english')
    await card.waitFor()
    await turn(page, 'rtl')
    await card.locator('.choices').waitFor()
    expect(await card.evaluate(element => getComputedStyle(element).direction)).toBe('rtl')
    expect(await ends(page, 'h2, .body p, .body li, .choices .option, .button')).toEqual([
      ...['Will you recommend us?', 'Tell us, please.', 'In a word!', 'Sure!', 'No.', 'Go!'].map(
        text => `${text} ends on the right`,
      ),
    ])
    await card.getByRole('button', { name: 'Go!' }).click()
    await panel.waitFor()
    expect(await ends(page, '.panel :is(h2, .title, .description p)')).toEqual(
      ['Ready?', 'Invite!', 'All of them.'].map(text => `${text} ends on the right`),
    )
  })

  test('in Arabic on an English page, and on an Arabic one with a name in Latin letters', async () => {
    const { page } = await open('/settings/billing?as=arabic')
    for (const dir of ['ltr', 'rtl'] as const) {
      await turn(page, dir)
      const written = ['هل توصي بنا؟', 'مع Harbor!']
      expect(await ends(page, 'h2, .body p')).toEqual(
        written.map(text => `${text} ends on the left`),
      )
    }
    expect(await ends(page, '.button')).toEqual(['Harbor نعم! ends on the left'])
  })
})

test('a flow without any language takes the page’s, and the snippet’s own words in it', async () => {
  const { page, title, button } = await open('/settings/notifications?as=old')
  await title.getByText('As ever').waitFor()
  await speak(page, 'he')
  await button('סיום').waitFor()
  expect((await rootOf(page))[0]).toBe('he')
})
