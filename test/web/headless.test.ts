import { expect } from 'bun:test'
import type { Page } from '../support/browser.ts'
import { afterAll, beforeAll, test } from '../support/in-browser.ts'
import { allSent, html, Site } from '../support/site.ts'

/** Pages that draw flows with components of their own. */

const flows = `
- key: tour
  frequency: until_completed
  targeting: { urls: [{ match: exact, pattern: /tour }] }
  steps:
    - { key: one, title: One, body: '**Bold**', target: { selector: '#first' } }
    - key: two
      kind: modal
      title: Two
      buttons: [{ label: Away, action: link, href: /other }, { label: Done, action: complete }]
- key: list
  kind: checklist
  frequency: always
  targeting: { urls: [{ match: exact, pattern: /list }] }
  checklist:
    order: sequence
    items:
      - { key: a, title: A, description: Do it }
      - { key: b, title: B, completeOn: { event: did_b } }
      - { key: c, title: C }
- key: asked
  frequency: always
  locale: de
  texts: { en: { steps: { score: { title: How was it? } } } }
  targeting: { urls: [{ match: exact, pattern: /asked }] }
  steps:
    - { key: score, kind: modal, title: Wie war es?, question: { type: rating } }
    - { key: thanks, kind: modal, title: Danke }
- key: help
  kind: launcher
  title: Help
  targeting: { urls: [{ match: exact, pattern: /help }] }
  launcher:
    target: '#first'
    items:
      - { key: docs, title: Guide, href: /guide }
      - { key: list, title: Steps, flow: list }
      - { key: news, title: News, announcements: true }
- key: fresh
  kind: announcement
  targeting: { urls: [{ match: exact, pattern: /never }] }
  steps: [{ key: one, kind: modal, title: Fresh }]
- key: far
  frequency: always
  targeting: { urls: [{ match: prefix, pattern: /far }] }
  steps:
    - { key: here, kind: modal, title: Here }
    - { key: there, kind: modal, title: There, page: { match: exact, pattern: /far/there } }
`

let site: Site
let pages: string
beforeAll(async () => {
  site = await Site.open(flows)
  const { url } = site.server
  // The page writes what it receives into elements, where a test can wait for it.
  pages = site.serve(() =>
    html(
      `<h2 id="first">First</h2><pre id="step"></pre><pre id="list"></pre><pre id="launcher"></pre>
    <script nonce="abc">
      function begin() {
        cairn.on('step', view => { step = view; document.getElementById('step').textContent = view ? view.step.key + (view.isElsewhere ? ' elsewhere' : '') : 'none' })
        cairn.on('checklist', view => { list = view; document.getElementById('list').textContent = view ? JSON.stringify(view.items.map(i => [i.key, i.isDone, i.canTick])) + view.progress.percent : 'none' })
        cairn.on('launcher', view => { launcher = view; document.getElementById('launcher').textContent = view ? [view.isOpen ? 'open' : view.isHidden ? 'hidden' : 'closed', view.unread, ...view.items.map(i => i.key + (i.starts ? ' ' + i.starts.progress.percent : '') + (i.announcements?.map(a => ' ' + a.flowKey + (a.isUnread ? ' new' : '')) ?? ''))].join() : 'none' })
      }
    </script>
    <script nonce="abc" src="${url}/snippet.js" data-key="${site.snippetKey}" data-headless></script>
    <script nonce="abc">begin()</script>`,
      {
        'Content-Security-Policy': `default-src 'none'; img-src data:; script-src 'nonce-abc' ${url}; connect-src ${url}; require-trusted-types-for 'script'`,
      },
    ),
  )
})
afterAll(() => site.close())

async function visit(path: string): Promise<Page> {
  const { page } = await site.browser.page()
  await page.goto(pages + path)
  return page
}
const step = (page: Page, text: string) =>
  page.locator('#step').getByText(text, { exact: true }).waitFor()
const list = (page: Page, text: string) =>
  page.locator('#list').getByText(text, { exact: true }).waitFor()

test('a tip from code is a step that the page draws and closes', async () => {
  const page = await visit('/nowhere')
  const shown = await page.evaluate("cairn.highlight('#first', { title: 'Here' })")
  expect(shown).toBe(true)
  await step(page, 'highlight')
  expect(await page.evaluate('[step.flow.key, step.step.title, step.element.id]')).toEqual([
    'highlight',
    'Here',
    'first',
  ])
  await page.click('#first')
  await step(page, 'highlight')
  await page.evaluate('step.actions.dismiss()')
  await step(page, 'none')
})

test('a question is answered by the page, in the words of its language', async () => {
  const page = await visit('/asked')
  await step(page, 'score')
  expect(await page.evaluate('[step.step.title, step.step.question.type]')).toEqual([
    'How was it?',
    'rating',
  ])
  await page.evaluate("cairn.on('question_answered', told => { answered = told })")
  await page.evaluate('step.actions.answer(9)')
  await step(page, 'thanks')
  expect(await page.evaluate('answered')).toEqual({ flowKey: 'asked', stepKey: 'score', answer: 9 })
  await allSent(page)
  const { steps } = await site.until('asked', ({ steps }) => steps[0]?.completed === 1)
  expect(steps[0]).toMatchObject({ question: { answers: 1, average: 9 } })
})

test('the page is told of a tour step by step with its element, and the tour is reported as if drawn', async () => {
  const page = await visit('/tour')
  await step(page, 'one')
  expect(
    await page.evaluate(
      `[step.flow.key, step.step.body, step.place, step.of, step.hasBack, step.element.id, step.isElsewhere, cairn.isActive('tour'), cairn.progress('tour').completed].join()`,
    ),
  ).toBe('tour,**Bold**,1,2,false,first,false,true,0')
  expect(await page.locator('[data-cairn]').count()).toBe(0)
  await page.evaluate('before = step; step.actions.next()')
  await step(page, 'two')
  // An action of a step that is gone does nothing.
  await page.evaluate('before.actions.dismiss()')
  await page.evaluate('step.actions.back()')
  await step(page, 'one')
  await page.evaluate('step.actions.next()')
  await step(page, 'two')
  expect(await page.evaluate("cairn.progress('tour')")).toEqual({
    completed: 1,
    total: 2,
    percent: 50,
  })
  await page.evaluate('step.actions.press(step.step.buttons[1])')
  await step(page, 'none')
  expect(await page.evaluate("cairn.progress('tour').percent")).toBe(100)
  expect(await page.evaluate('cairn.isActive()')).toBe(false)
  await allSent(page)
  const numbers = await site.until('tour', ({ totals }) => totals.completions === 1)
  expect(numbers.steps.map(({ key, reached, completed }) => [key, reached, completed])).toEqual([
    ['one', 1, 1],
    ['two', 1, 1],
  ])
})

test('a late listener is called at once, a removed element hides its step, and a button’s link is followed', async () => {
  const page = await visit('/tour')
  await step(page, 'one')
  const late =
    "let key, keys; cairn.on('step', view => { key = view.step.key }); cairn.on('active', ({ flowKeys }) => { keys = flowKeys }); [key, keys]"
  expect(await page.evaluate(late)).toEqual(['one', ['tour']])
  await page.evaluate("gone = document.getElementById('first'), gone.remove()")
  await step(page, 'none')
  await page.evaluate('document.body.prepend(gone)')
  await step(page, 'one')
  await page.evaluate('step.actions.next()')
  await step(page, 'two')
  await page.evaluate('step.actions.press(step.step.buttons[0])')
  await page.waitForURL('**/other')
})

test('the page is told of a checklist, and of what can be ticked in its order', async () => {
  const page = await visit('/list')
  await list(page, '[["a",false,true],["b",false,false],["c",false,false]]0')
  // It is not the turn of "c" yet.
  await page.evaluate("list.actions.tick('c'); list.actions.tick('a')")
  await list(page, '[["a",true,false],["b",false,false],["c",false,false]]33')
  await page.evaluate("cairn.track('did_b')")
  await list(page, '[["a",true,false],["b",true,false],["c",false,true]]67')
  expect(await page.evaluate("cairn.progress('list')")).toEqual({
    completed: 2,
    total: 3,
    percent: 67,
  })
  expect(await page.evaluate('list.isOpen')).toBe(true)
  await page.evaluate('list.actions.toggle()')
  expect(await page.evaluate('list.isOpen')).toBe(false)
  await page.evaluate("list.actions.open('c')")
  await list(page, '[["a",true,false],["b",true,false],["c",true,false]]100')
  await allSent(page)
  await site.until('list', ({ totals }) => totals.completions === 1)
})

test('the page is told of a launcher, its unread announcements and progress, and opens it itself', async () => {
  const page = await visit('/help')
  const launcher = (text: string) =>
    page.locator('#launcher').getByText(text, { exact: true }).waitFor()
  await launcher('closed,1,docs,list 0,news fresh new')
  // Only the page's own components open it here.
  await page.click('#first')
  await page.evaluate('launcher.actions.choose("list")')
  await launcher('closed,1,docs,list 0,news fresh new')
  await page.evaluate('launcher.actions.toggle()')
  await launcher('open,1,docs,list 0,news fresh new')
  await page.evaluate('launcher.actions.choose("list")')
  await list(page, '[["a",false,true],["b",false,false],["c",false,false]]0')
  await page.evaluate("list.actions.tick('a')")
  await launcher('closed,1,docs,list 33,news fresh new')
  await page.evaluate('launcher.actions.toggle(true)')
  await page.evaluate('launcher.actions.choose("news", "fresh")')
  await step(page, 'one')
  await launcher('hidden,0,docs,list 33,news fresh')
  await page.evaluate('step.actions.next()')
  await launcher('closed,0,docs,list 33,news fresh')
  await page.evaluate("history.pushState(null, '', '/elsewhere')")
  await launcher('none')
  await allSent(page)
  expect(await site.startedBy('fresh', 1)).toEqual({ launcher: 1 })
  expect(await site.startedBy('help', 2)).toEqual({ unread: 2 })
})

test('a step for another page is marked as such', async () => {
  const page = await visit('/far')
  await step(page, 'here')
  await page.evaluate('step.actions.next()')
  await step(page, 'there elsewhere')
  await page.evaluate("history.pushState(null, '', '/far/there')")
  await step(page, 'there')
})
