import { expect } from 'bun:test'
import { type Page, TestBrowser } from '../support/browser.ts'
import { afterAll, beforeAll, test } from '../support/in-browser.ts'
import { openStage, play, serveStage, shows } from './stage.ts'

/** While the page is blocked around a step's element, what the element opens can be used. */

const floats =
  'position: absolute; left: 20px; top: 120px; padding: 20px; background: white; z-index: 9'
const day = '<button id=day onclick="chosen = true">5</button>'
const calendar = (style = floats) => `<div id=calendar style="${style}">${day}</div>`
const append = (html: string) => `document.body.insertAdjacentHTML('beforeend', \`${html}\`)`
const field = '<input id=in readonly>'
const shown = "document.getElementById('calendar').style.display = 'block'"

/** How pages open a calendar: what is there before, and what a press does. */
const ways: Record<string, [html: string, press: string]> = {
  'at the end of the page': [field, append(calendar())],
  'at a place of the window': [field, append(calendar(floats.replace('absolute', 'fixed')))],
  'in the page, at its end': [field, append(calendar('padding: 20px'))],
  'in a wrapper without styles': [field, append(`<div><div>${calendar()}</div></div>`)],
  'in a wrapper without size': [
    field,
    append(
      `<div style="position: absolute; left: 20px; top: 120px; width: 0">${calendar('width: 90px')}</div>`,
    ),
  ],
  'on a ground that covers the page': [
    field,
    append(
      `<div style="position: fixed; inset: 0"><div id=ground style="position: fixed; inset: 0"></div>${calendar()}</div>`,
    ),
  ],
  'in a shadow root': [
    field,
    `const host = document.body.appendChild(document.createElement('div'))
     host.attachShadow({ mode: 'open' }).innerHTML = \`${calendar()}\``,
  ],
  'a while later': [field, `setTimeout(() => ${append(calendar())}, 1000)`],
  'that was there, but not displayed': [field + calendar(`${floats}; display: none`), shown],
  'that was there, but invisible': [
    field + calendar(`${floats}; visibility: hidden; opacity: 0`),
    "Object.assign(document.getElementById('calendar').style, { visibility: 'visible', opacity: 1 })",
  ],
  'by a class of what is around both': [
    `<style>#calendar { display: none } .open #calendar { display: block }</style><div id=around>${field}${calendar()}</div>`,
    "document.getElementById('around').className = 'open'",
  ],
  'by the focus': [
    `<style>#calendar { display: none } div:focus-within > #calendar { display: block }</style><div>${field}${calendar()}</div>`,
    '',
  ],
  'beside itself': [
    `<div>${field}</div>`,
    `this.insertAdjacentHTML('afterend', \`${calendar('padding: 20px')}\`)`,
  ],
  'that it names': [
    `${field.replace('id', 'aria-controls=calendar id')}<main><section><article><div><div>${calendar('display: none')}</div></div></article></section></main>`,
    `this.ariaExpanded = 'true', ${shown}`,
  ],
  'as a popover': [
    `<button id=in popovertarget=own>Day</button><div id=own popover>${day}</div>`,
    '',
  ],
  'as a dialog': [
    `${field}<dialog id=own>${day}</dialog>`,
    "document.getElementById('own').showModal()",
  ],
}

const steps =
  '[{ key: a, title: Choose a day, spotlight: block, target: { selector: "#in" } }, { key: b, kind: modal, title: End }]'

let stage: Awaited<ReturnType<typeof serveStage>>
let browser: TestBrowser
beforeAll(async () => {
  stage = await serveStage()
  browser = await TestBrowser.open()
})
afterAll(async () => {
  await browser.close()
  stage.stop()
})

const open = (options = {}) =>
  openStage(browser, stage.url, { clock: true, reducedMotion: 'reduce', ...options })

/** Shows the step on a page that opens its calendar in this way, beside something else to press. */
async function begin(page: Page, [html, press]: [string, string]): Promise<void> {
  await page.evaluate('chosen = other = shut = false')
  const other =
    '<p style="margin-top: 300px"><button id=other onclick="other = true">Other</button>'
  await play(page, `<h1>App</h1>${html}${other}`, steps)
  await shows(page, 'Choose a day')
  await page.evaluate(
    `document.getElementById('in').addEventListener('click', function () { ${press} })`,
  )
}

/** The middle of an element, in the window. */
async function middleOf(page: Page, selector: string): Promise<[number, number]> {
  const box = await page.locator(selector).boundingBox()
  return [box!.x + box!.width / 2, box!.y + box!.height / 2]
}

/** What was pressed. */
const pressed = (page: Page) => page.evaluate('[chosen, other]')

test('by mouse, however the page opens it, and nothing else can', async () => {
  const page = await open()
  const wrong: string[] = []
  for (const [name, way] of Object.entries(ways)) {
    await begin(page, way)
    await page.mouse.click(...(await middleOf(page, '#in')))
    await page.clock.runFor(2_500)
    await page.mouse.click(...(await middleOf(page, '#day')))
    await page.mouse.click(...(await middleOf(page, '#other')))
    if (String(await pressed(page)) !== 'true,false') wrong.push(name)
  }
  expect(wrong).toEqual([])
})

test('by touch and by keyboard, in a narrow window too', async () => {
  const page = await open({ hasTouch: true, viewport: { width: 360, height: 640 } })
  const way = ways['at the end of the page']!
  await begin(page, way)
  await page.touchscreen.tap(...(await middleOf(page, '#in')))
  await page.clock.runFor(500)
  await page.touchscreen.tap(...(await middleOf(page, '#other')))
  await page.touchscreen.tap(...(await middleOf(page, '#day')))
  expect(await pressed(page)).toEqual([true, false])

  await begin(page, way)
  await page.locator('#in').focus()
  await page.evaluate("document.getElementById('in').click()")
  await page.clock.runFor(500)
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  expect(await pressed(page)).toEqual([true, false])
})

test('until it is closed, also by a press beside it, and a toolbar that was there stays blocked', async () => {
  const page = await open()
  await begin(page, ways['on a ground that covers the page']!)
  await page.mouse.click(...(await middleOf(page, '#in')))
  await page.clock.runFor(500)
  await page.evaluate(
    "document.getElementById('ground').onclick = ({ target }) => { shut = true; target.parentElement.remove() }",
  )
  const other = await middleOf(page, '#other')
  await page.mouse.click(...other)
  expect(await page.evaluate('shut')).toBe(true)
  await page.clock.runFor(500)
  await page.mouse.click(...other)
  expect(await pressed(page)).toEqual([false, false])

  const bar =
    '<nav style="position: fixed; inset: auto 0 0"><button onclick="other = true">Bar</button></nav>'
  await begin(page, [field + bar, append(calendar())])
  await page.mouse.click(...(await middleOf(page, '#in')))
  await page.evaluate("document.querySelector('nav').className = 'touched'")
  await page.clock.runFor(500)
  await page.mouse.click(...(await middleOf(page, 'nav button')))
  expect(await pressed(page)).toEqual([false, false])
})
