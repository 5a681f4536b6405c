import { expect } from 'bun:test'
import { type Page, TestBrowser } from '../support/browser.ts'
import { afterAll, beforeAll, describe, test } from '../support/in-browser.ts'
import { flowOf, openStage, play, serveStage, shows } from './stage.ts'

/** What is shown beside a page's dialogs and menus, and over what fills the screen, is seen and used. */

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
  openStage(browser, stage.url, { reducedMotion: 'reduce', ...options })

const button = (page: Page, name: string) =>
  page.locator('[data-cairn]').getByRole('button', { name, exact: true })

/** Presses a button of what is shown as a mouse does: whatever is on top there gets it. */
async function press(page: Page, name: string): Promise<void> {
  const box = await button(page, name).boundingBox()
  await page.mouse.click(box!.x + box!.width / 2, box!.y + box!.height / 2)
}

/** Waits until nothing disables what is shown, for a mouse or for a screen reader. */
const expectUsable = (page: Page) =>
  page.waitForFunction(`(() => {
    let at = document.querySelector('[data-cairn]')
    const card = at.shadowRoot.querySelector('.card')
    if (!card || getComputedStyle(card).pointerEvents === 'none') return false
    for (; at; at = at.parentElement ?? at.getRootNode().host)
      if (at.matches('[inert], [aria-hidden=true]')) return false
    return true
  })()`)

/** Runs each variant on its own; returns what went wrong, by name. */
async function wrongOf<T>(
  variants: Record<string, T>,
  attempt: (variant: T) => Promise<void>,
): Promise<string[]> {
  const wrong: string[] = []
  for (const [name, variant] of Object.entries(variants)) {
    try {
      await attempt(variant)
    } catch (error) {
      wrong.push(`${name}: ${(error as Error).stack}`)
    }
  }
  return wrong
}

const place = 'position: fixed; left: 300px; top: 150px; padding: 30px; background: white'
const inside = '<input id=name> <button id=inner>Save</button>'
const dialog = (attributes = 'role=dialog aria-modal=true', content = inside) =>
  `<div id=portal><div style="position: fixed; inset: 0; background: #0008"></div>` +
  `<div id=dialog ${attributes} style="${place}" tabindex=-1>${content}</div></div>`
const append = (html: string) => `document.body.insertAdjacentHTML('beforeend', \`${html}\`)`
const others = (statement: string) =>
  `for (const one of document.body.children) if (!one.contains(document.getElementById('dialog'))) { ${statement} }`
const focus = "document.getElementById('name').focus()"
const hide = others("one.setAttribute('aria-hidden', 'true')")
const mark = others("one.inert = true, one.setAttribute('aria-hidden', 'true')")

/** How pages disable everything but their dialog. */
const dialogs: Record<string, string> = {
  'inert and aria-hidden': `${append(dialog())}; ${mark}; ${focus}`,
  'aria-hidden, and no pointer events on the body': `
    ${append(dialog().replace('left', 'pointer-events: auto; left'))}
    document.body.style.pointerEvents = 'none'; ${hide}; ${focus}`,
  'style on the others': `${append(dialog())}; ${others("one.style.cssText = 'pointer-events: none; display: none'")}; ${focus}`,
  'inert, by a dialog without a role': `${append(dialog(''))}; ${mark}; ${focus}`,
  'inert, without moving the focus': `${append(dialog())}; ${mark}`,
  'inert, before it is opened': `
    for (const one of document.body.children) one.inert = true
    setTimeout(() => { ${append(dialog())}; ${focus} }, 50)`,
  'marks again whatever is added or changed': `${append(dialog())}; ${mark}; ${focus}
    observer = new MutationObserver(() => { ${others("if (!one.inert) one.inert = true, one.setAttribute('aria-hidden', 'true')")} })
    observer.observe(document.body, { childList: true, subtree: true, attributeFilter: ['inert', 'aria-hidden'] })`,
  'a dialog over a dialog': `${append(dialog(undefined, '<button>First</button>'))}; ${mark}
    document.getElementById('dialog').removeAttribute('id')
    ${append(dialog().replace('300px', '340px'))}; ${mark}; ${focus}`,
  'a dialog in a slot of a shadow root': `
    const outer = document.body.appendChild(document.createElement('div'))
    outer.attachShadow({ mode: 'open' }).innerHTML = '<slot></slot>'
    outer.innerHTML = \`${dialog()}\`; ${mark}; ${focus}`,
  'a modal dialog of the browser': `
    ${append(`<dialog id=dialog>${inside}</dialog>`)}; document.getElementById('dialog').showModal()`,
}

const first = '{ key: a, title: First, target: { selector: "#open" }, advance: { on: click } }'
const pointing = '{ key: b, title: Name, target: { selector: "#name" } }'
const own = '{ key: c, kind: modal, title: Own }'
const corner = '{ key: d, kind: slideout, title: Corner }'
/** Ends what the way before has left on the page, and shows these steps on it. */
const begin = async (page: Page, steps: string[]) => {
  await page.evaluate(`globalThis.observer?.disconnect(), observer = null
    document.body.removeAttribute('style')`)
  await play(page, '<main><button id=open>Open</button></main>', `[${steps.join()}]`)
}

test('pages that disable everything but their dialog leave usable what is shown', async () => {
  const at = await open()
  const wrong = await wrongOf(dialogs, async way => {
    await begin(at, [first, pointing, own, corner])
    await shows(at, 'First')
    await at.evaluate(
      `document.getElementById('open').addEventListener('click', () => { ${way} }, { once: true })`,
    )
    await at.locator('#open').click()
    for (const [title, next] of [
      ['Name', 'Next'],
      ['Own', 'Next'],
      ['Corner', 'Done'],
    ] as const) {
      await shows(at, title)
      await expectUsable(at)
      await press(at, next)
    }
    await shows(at, null)
  })
  expect(wrong).toEqual([])
})

test('begun in such a dialog, it is usable by keyboard too, and after the dialog has closed', async () => {
  const at = await open()
  const wrong = await wrongOf(dialogs, async way => {
    await begin(at, [first])
    await at.evaluate('clear()')
    await at.evaluate(`(() => { ${way} })()`)
    await at.locator('#name').waitFor()
    const flow = `[${pointing}, ${own}]`
    await at.evaluate(`show(${JSON.stringify(flowOf(flow))})`)
    await shows(at, 'Name')
    await button(at, 'Next').focus()
    await at.keyboard.press('Enter')
    await shows(at, 'Own')
    await at.evaluate(`globalThis.observer?.disconnect()
      for (const one of document.querySelectorAll('dialog')) one.remove()
      for (const one of document.querySelectorAll('#portal')) one.remove()
      document.body.removeAttribute('style')
      for (const one of document.querySelectorAll('[inert], [aria-hidden]')) one.inert = false, one.removeAttribute('aria-hidden')`)
    await shows(at, 'Own')
    await at.locator('[data-cairn] .card').waitFor()
    await expectUsable(at)
    await press(at, 'Done')
    await shows(at, null)
  })
  expect(wrong).toEqual([])
})

const listen = (types: string, on: string, isInside: string, close: string) => `
  for (const type of ${JSON.stringify(types.split(' '))}) for (const [on, capture] of [${on}])
    on.addEventListener(type, event => {
      const at = document.getElementById('dialog')
      if (at && !(${isInside})) { ${close} }
    }, { capture, signal: ended.signal })`
/** Has listeners called that were on the window before the snippet. */
const early = (isInside: string, close: string) => `; onEarly = event => {
  const at = document.getElementById('dialog')
  if (at && !(${isInside})) { ${close} } }`
const all =
  'pointerdown mousedown pointerup mouseup click touchstart touchend focusin focusout focus blur'
const everywhere = '[window, true], [document, true], [document, false], [document.body, false]'
const within = 'event.composedPath().includes(at)'
const remove = 'at.remove()'
const contains = 'event.target === document || event.target === window || at.contains(event.target)'
const closest = "event.target.closest?.('#dialog')"
const floating = `<div id=dialog style="${place}">${inside}</div>`
const inPage = `<div id=dialog>${inside}</div>`

/** What closes by a press outside: what it is, and how it notices that. */
const closing: Record<string, [html: string, script: string]> = {
  'a menu, by the path': [
    floating.replace('id=', 'role=menu id='),
    listen(all, everywhere, within, remove) + early(within, remove),
  ],
  'a floating box, by what it contains': [
    floating,
    listen(all, everywhere, contains, remove) + early(contains, remove),
  ],
  'a dialog, by closest': [
    dialog(),
    listen(all, everywhere, closest, remove) + early(closest, remove),
  ],
  'a box in the page, by the path': [
    inPage,
    listen(all, everywhere.slice('[window, true], '.length), within, remove),
  ],
  'a list at a place of the page': [
    `<div style="position: relative"><ul id=dialog role=listbox style="position: absolute">${inside}</ul></div>`,
    listen(all, everywhere, within, remove),
  ],
  details: [
    `<details open id=dialog><summary>More</summary>${inside}</details>`,
    listen(all, everywhere, within, remove),
  ],
  'a list of a field, when that loses the focus': [
    `<input id=name>${floating.replace('<input id=name>', '')}`,
    "const field = document.getElementById('name'); field.focus(); field.onblur = () => document.getElementById('dialog').remove()",
  ],
}

test('a press on what is shown is not outside of what the step points at', async () => {
  const at = await open({ hasTouch: true })
  await at
    .context()
    .addInitScript(
      `for (const type of ${JSON.stringify(all.split(' '))}) addEventListener(type, event => globalThis.onEarly?.(event), true)`,
    )
  await at.reload()
  await at.locator('html[data-ready]').waitFor({ state: 'attached' })
  const steps = `[{ key: a, title: First, target: { selector: "#inner" } },
    { key: b, title: Second, target: { selector: "#dialog", waitMs: 300 } }, ${own}]`
  const wrong = await wrongOf(closing, async ([html, script]) => {
    await at.evaluate('globalThis.ended?.abort(), ended = new AbortController(), onEarly = null')
    await play(at, html, steps)
    await shows(at, 'First')
    await at.evaluate(`{ ${script} }`)
    await press(at, 'Next')
    await shows(at, 'Second')
    const back = await button(at, 'Back').boundingBox()
    await at.touchscreen.tap(back!.x + back!.width / 2, back!.y + back!.height / 2)
    await shows(at, 'First')
    await press(at, 'Next')
    await shows(at, 'Second')
    // From the text out of the card, as when it is selected. Listeners that were there before hear of that.
    await at.evaluate('onEarly = null')
    const card = await at.locator('[data-cairn] .card h2').boundingBox()
    await at.mouse.move(card!.x + 5, card!.y + 5)
    await at.mouse.down()
    await at.mouse.move(900, 600)
    await at.mouse.up()
    if (!(await at.evaluate("!!document.getElementById('dialog')"))) throw new Error('closed')
    await press(at, 'Next')
    await shows(at, 'Own')
  })
  expect(wrong).toEqual([])
})

test('keys on a card do not reach the menu around it, and shortcuts of the page work', async () => {
  const at = await open()
  const menu = floating.replace('id=', 'role=menu id=')
  await play(at, menu, `[${pointing}, ${own}]`)
  await shows(at, 'Name')
  await at.evaluate(`{ const menu = document.getElementById('dialog')
    shortcuts = []
    menu.addEventListener('keydown', event => {
      const isOfMenu = [' ', 'Enter', 'ArrowDown', 'Home', 'Tab'].includes(event.key)
      if (isOfMenu) event.preventDefault(), menu.remove()
      else shortcuts.push(event.key)
    }, true) }`)
  for (const key of ['k', 'Control+k', 'ArrowDown', 'Home']) await at.keyboard.press(key)
  await button(at, 'Next').focus()
  await at.keyboard.press('Enter')
  await shows(at, 'Own')
  expect(await at.evaluate('shortcuts')).toEqual(['k', 'Control', 'k'])
  expect(await at.locator('#dialog').count()).toBe(1)
})

test('a card is inside a part of the page only while it is shown, and only after somebody has used the page', async () => {
  const at = await open()
  const steps = `[${pointing}, ${own}]`
  const sidebar = `<nav style="position: fixed; inset: 0 auto 0 0; width: 200px">${inside}</nav>`
  const layer = () => at.evaluate("document.querySelector('[data-cairn]').parentElement.localName")
  // Scripts that a test runs on a page count as use of the page.
  await at.evaluate(
    "Object.defineProperty(navigator, 'userActivation', { value: { hasBeenActive: false }, writable: true })",
  )
  await play(at, sidebar, steps)
  await shows(at, 'Name')
  expect(await layer()).toBe('body')
  await at.evaluate('navigator.userActivation = { hasBeenActive: true }')
  await play(at, sidebar, steps)
  await shows(at, 'Name')
  expect(await layer()).toBe('nav')
  await at.evaluate('clear()')
  await at.waitForFunction("document.querySelector('body > [data-cairn]')")
})

/** How a dialog keeps the focus. */
const back = "document.getElementById('name').focus()"
const traps: Record<string, string> = {
  'by focusin': listen('focusin focus', everywhere, within, back),
  'by what it contains': listen('focusin focus', everywhere, contains, back),
  'when it loses the focus': `document.getElementById('dialog').addEventListener('focusout', event => {
    if (!event.currentTarget.contains(event.relatedTarget)) { ${back} } })`,
  'a while after': `document.addEventListener('focusout', () => setTimeout(() => {
    if (!document.getElementById('dialog')?.contains(document.activeElement)) { ${back} } }), { capture: true, signal: ended.signal })`,
  'again and again': `const timer = setInterval(() => {
    const at = document.getElementById('dialog')
    if (!at) clearInterval(timer)
    else if (!at.contains(document.activeElement)) { ${back} } }, 50)`,
  'by presses': listen(
    'pointerdown mousedown click',
    everywhere,
    within,
    `event.preventDefault(); ${back}`,
  ),
  'by keys': `addEventListener('keydown', event => {
    if (document.getElementById('dialog')) event.preventDefault(), event.stopPropagation() }, { capture: true, signal: ended.signal })`,
}

test('a dialog that keeps the focus leaves it to a field that somebody types in', async () => {
  const at = await open()
  const ask = '{ key: a, title: Why, target: { selector: "#inner" }, question: { type: text } }'
  const alone = ask.replace('target: { selector: "#inner" }', 'kind: slideout')
  const cases = Object.entries(traps).flatMap(([name, trap]) => [
    [`${name}, beside its element`, [trap, ask] as const] as const,
    [`${name}, in a corner`, [trap, alone] as const] as const,
  ])
  const wrong = await wrongOf(Object.fromEntries(cases), async ([trap, step]) => {
    await at.evaluate('globalThis.ended?.abort(), ended = new AbortController()')
    await play(at, dialog(), `[${step}]`)
    await at.evaluate(`{ ${back}; ${trap} }`)
    await shows(at, 'Why')
    const field = at.locator('[data-cairn] textarea, [data-cairn] input').first()
    const box = await field.boundingBox()
    await at.mouse.click(box!.x + 20, box!.y + 20)
    await at.keyboard.type('Because it', { delay: 15 })
    const typed = await field.inputValue()
    if (typed !== 'Because it') throw new Error(`typed ${typed}`)
  })
  expect(wrong).toEqual([])
})

test('the controls of a card work by keyboard beside a dialog that keeps the focus', async () => {
  const at = await open()
  const focused = () =>
    at.evaluate("document.querySelector('[data-cairn]').shadowRoot.activeElement?.textContent")
  const useBy = (from: () => Promise<unknown>) => async (trap: string) => {
    await at.evaluate('globalThis.ended?.abort(), ended = new AbortController()')
    await play(at, dialog(), `[${pointing}, ${own}]`)
    await at.evaluate(`{ ${back}; ${trap} }`)
    await shows(at, 'Name')
    await from()
    for (let tabs = 0; (await focused()) !== 'Next'; tabs++) {
      if (tabs === 8) throw new Error('Tab does not lead to the button')
      await at.keyboard.press('Tab')
    }
    await at.keyboard.press('Enter')
    await shows(at, 'Own')
  }
  // Where the page prevents every key, no key leaves its own field.
  const { 'by keys': _, ...leavingKeys } = traps
  const fromField = await wrongOf(
    leavingKeys,
    useBy(() => at.locator('#name').focus()),
  )
  const byTab = `document.addEventListener('keydown', event => {
    if (event.key === 'Tab') event.preventDefault(), ${back} }, { capture: true, signal: ended.signal })`
  const fromCard = await wrongOf(
    { ...traps, 'by Tab': byTab },
    useBy(() => at.locator('[data-cairn] .card').focus()),
  )
  expect([...fromField, ...fromCard]).toEqual([])
})

const part =
  '<div id=full style="padding: 90px; background: white"><button id=open>Full</button> <button id=name>Name</button></div>'

/** What fills the screen, and how. */
const screens: Record<string, [html: string, press: string]> = {
  'a part of the page': [part, "document.getElementById('full').requestFullscreen()"],
  'the page': [
    '<button id=open>Full</button> <button id=name>Name</button>',
    'document.documentElement.requestFullscreen()',
  ],
  'an element in a shadow root': [
    `<div id=outer data-shadow='${part}'></div>`,
    "document.getElementById('outer').shadowRoot.getElementById('full').requestFullscreen()",
  ],
  'something else than what is pointed at': [
    '<div id=full style="background: white">Map</div><button id=open>Full</button> <button id=name>Name</button>',
    "document.getElementById('full').requestFullscreen()",
  ],
}

/** Waits until a card with this title is shown, and nothing covers the title. */
async function isOnTop(page: Page, title: string): Promise<void> {
  const heading = page.locator('[data-cairn] .card h2').getByText(title, { exact: true })
  await heading.waitFor()
  // A click waits until nothing else would get it.
  await heading.click()
}

test('what is shown is above what fills the screen, before, during and after', async () => {
  const at = await open()
  const steps = `[${pointing}, ${own}]`
  const wrong = await wrongOf(screens, async ([html, script]) => {
    const show = () => at.evaluate(`show(${JSON.stringify(flowOf(steps))})`)
    await play(at, html, steps)
    await isOnTop(at, 'Name')
    await at
      .locator('#open')
      .evaluate((open, script) => open.setAttribute('onclick', script), script)
    await at.locator('#open').click()
    await at.waitForFunction('document.fullscreenElement !== null')
    await isOnTop(at, 'Name')
    await press(at, 'Next')
    await isOnTop(at, 'Own')
    await at.evaluate('clear()')
    await show()
    await isOnTop(at, 'Name')
    await at.evaluate('document.exitFullscreen()')
    await at.waitForFunction('document.fullscreenElement === null')
    await isOnTop(at, 'Name')
    await press(at, 'Next')
    await isOnTop(at, 'Own')
    await press(at, 'Done')
    await shows(at, null)
  })
  expect(wrong).toEqual([])
})

describe('while a step blocks the page around its element, what the element opens can be used', () => {
  const floats =
    'position: absolute; left: 20px; top: 120px; padding: 20px; background: white; z-index: 9'
  const day = '<button id=day onclick="chosen = true">5</button>'
  const calendar = (style = floats) => `<div id=calendar style="${style}">${day}</div>`
  const field = '<input id=in readonly>'
  const shown = "document.getElementById('calendar').style.display = 'block'"

  /** How pages open a calendar: the markup before, and what a press does. */
  const openings: Record<string, [html: string, press: string]> = {
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

  const open = (options = {}) =>
    openStage(browser, stage.url, { clock: true, reducedMotion: 'reduce', ...options })

  /** Shows the step on a page that opens its calendar in this way and has another button. */
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

  /** The center of an element, in the window. */
  async function middleOf(page: Page, selector: string): Promise<[number, number]> {
    const box = await page.locator(selector).boundingBox()
    return [box!.x + box!.width / 2, box!.y + box!.height / 2]
  }

  /** Whether the day and the other button were pressed. */
  const pressed = (page: Page) => page.evaluate('[chosen, other]')

  test('by mouse, however the page opens it, but nothing else can', async () => {
    const page = await open()
    const wrong: string[] = []
    for (const [name, opening] of Object.entries(openings)) {
      await begin(page, opening)
      await page.mouse.click(...(await middleOf(page, '#in')))
      await page.clock.runFor(2_500)
      await page.mouse.click(...(await middleOf(page, '#day')))
      await page.mouse.click(...(await middleOf(page, '#other')))
      if (String(await pressed(page)) !== 'true,false') wrong.push(name)
    }
    expect(wrong).toEqual([])
  })

  test('by touch and by keyboard, also in a narrow window', async () => {
    const page = await open({ hasTouch: true, viewport: { width: 360, height: 640 } })
    const opening = openings['at the end of the page']!
    await begin(page, opening)
    await page.touchscreen.tap(...(await middleOf(page, '#in')))
    await page.clock.runFor(500)
    await page.touchscreen.tap(...(await middleOf(page, '#other')))
    await page.touchscreen.tap(...(await middleOf(page, '#day')))
    expect(await pressed(page)).toEqual([true, false])

    await begin(page, opening)
    await page.locator('#in').focus()
    await page.evaluate("document.getElementById('in').click()")
    await page.clock.runFor(500)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    expect(await pressed(page)).toEqual([true, false])
  })

  test('until it is closed, also by a press beside it, and an existing toolbar stays blocked', async () => {
    const page = await open()
    await begin(page, openings['on a ground that covers the page']!)
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
})
