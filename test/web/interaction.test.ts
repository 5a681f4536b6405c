import { expect } from 'bun:test'
import { until } from '../../scripts/support/until.ts'
import type { Page } from '../support/browser.ts'
import { afterAll, beforeAll, describe, test } from '../support/in-browser.ts'
import { allSent, Site, shown } from '../support/site.ts'

/** What people press, type and reach with Tab while a step is shown, on pages that make that hard. */

type Act = (page: Page, id: string) => Promise<unknown>

const middleOf = async (page: Page, selector: string) => {
  const { x, y, width, height } = (await page.locator(selector).boundingBox())!
  return { x: x + width / 2, y: y + height / 2 }
}

const click: Act = async (page, id) => {
  const { x, y } = await middleOf(page, `#${id}`)
  await page.mouse.move(x, y)
  await page.mouse.down()
  await page.mouse.up()
}
const drag: Act = async (page, id) => {
  const { x, y } = await middleOf(page, `#${id}`)
  await page.mouse.move(x, y)
  await page.mouse.down()
  await page.mouse.move(x + 300, y + 5, { steps: 3 })
  await page.mouse.up()
}
const key =
  (name: string): Act =>
  async (page, id) => {
    await page.locator(`#${id}`).focus()
    await page.keyboard.press(name)
  }
const touch =
  (...moves: number[]): Act =>
  async (page, id) => {
    const { x, y } = await middleOf(page, `#${id}`)
    const devtools = await page.context().newCDPSession(page)
    const send = (type: 'touchStart' | 'touchMove' | 'touchEnd', dy: number | null) =>
      devtools.send('Input.dispatchTouchEvent', {
        type,
        touchPoints: dy === null ? [] : [{ x, y: y + dy }],
      })
    await send('touchStart', 0)
    for (const dy of moves) await send('touchMove', dy)
    await send('touchEnd', null)
  }

/** Elements of a page, each with what it does (`me` is the element), and how it is pressed. */
const pressed: Record<string, { does?: string; act?: Act; tag?: string; counts?: false }> = {
  plain: {},
  'plain-enter': { act: key('Enter') },
  'plain-space': { act: key(' ') },
  'opens-on-pointerdown': { does: 'me.onpointerdown = cover' },
  'prevents-pointerdown': {
    does: 'me.onpointerdown = event => { event.preventDefault(); cover() }',
  },
  'opens-on-mousedown': { does: 'me.onmousedown = event => { event.preventDefault(); cover() }' },
  'goes-on-mousedown': { does: 'me.onmousedown = () => me.remove()' },
  'replaced-on-mousedown': { does: 'me.onmousedown = () => me.replaceWith(me.cloneNode(true))' },
  'hidden-on-pointerup': { does: 'me.onpointerup = () => { me.hidden = true }' },
  'disabled-on-press': { does: 'me.onpointerdown = () => { me.disabled = true }' },
  'prevents-enter': { does: 'onKey("Enter", open)', act: key('Enter') },
  'prevents-space': { does: 'onKey(" ", open)', act: key(' ') },
  'opens-by-arrow': { does: 'onKey("ArrowDown", open)', act: key('ArrowDown') },
  'expands-by-arrow': {
    tag: 'button aria-expanded=false',
    does: 'me.onkeydown = () => setTimeout(() => { me.ariaExpanded = true })',
    act: key('ArrowDown'),
  },
  'clicked-by-a-script': {
    act: (page, id) => page.evaluate(`document.getElementById('${id}').click()`),
  },
  'a-div': { tag: 'div role=button tabindex=0', act: key(' ') },
  'opens-on-touchstart': {
    does: 'me.addEventListener("touchstart", event => { event.preventDefault(); cover() })',
    act: touch(),
  },
  'dragged-away': { does: 'me.onpointerdown = open', act: drag, counts: false },
  'dragged-along': {
    does: 'me.onpointermove = event => event.buttons && (me.style.translate = "300px 5px")',
    act: drag,
    counts: false,
  },
  scrolled: { act: touch(-15, -60, -150), counts: false },
  disabled: { tag: 'button disabled', does: 'me.onpointerdown = open', counts: false },
  'said-to-be-disabled': { tag: 'button aria-disabled=true', counts: false },
  'arrow-moves-on': {
    does: 'onKey("ArrowDown", () => {})',
    tag: 'button role=tab',
    act: key('ArrowDown'),
    counts: false,
  },
  typed: {
    tag: 'textarea',
    act: (page, id) => page.locator(`#${id}`).pressSequentially('a b\n'),
    counts: false,
  },
}

const pressPage = `${Object.entries(pressed)
  .map(([id, { tag = 'button' }]) => `<p><${tag} id="${id}">${id}</${tag.split(' ')[0]}></p>`)
  .join('')}<div style="height: 2000px"></div><script>
  const cover = () => {
    const cover = document.createElement('div')
    cover.style.cssText = 'position: fixed; inset: 0'
    document.body.append(cover)
    setTimeout(() => cover.remove(), 100)
  }
  const open = () => document.body.append('Open')
  ${Object.entries(pressed)
    .map(
      ([id, { does = '' }]) => `{
        const me = document.getElementById('${id}')
        const onKey = (key, act) => { me.onkeydown = event => { if (event.key === key) { event.preventDefault(); act() } } }
        ${does}
      }`,
    )
    .join('\n')}
</script>`

/** Ways of a page to draw anew what is in `#app`, and so the button `#row`. */
const dialog =
  'app.innerHTML = "<dialog id=own><div id=list>" + row() + "</div></dialog>"; own.showModal()'
const redrawn = {
  'the element': 'list.innerHTML = row()',
  'the list around it': 'app.innerHTML = "<p>Some text</p><div id=list>" + row() + "</div>"',
  'the element, elsewhere': 'list.innerHTML = "<p>Another one</p>" + row()',
  'the whole body':
    'document.body.innerHTML = "<main id=app><div id=list>" + row() + "</div></main>"',
  'a dialog around it': dialog,
  'the dialog again': dialog,
  'the page without the dialog': 'app.innerHTML = "<div id=list>" + row() + "</div>"',
}
const redrawPage = `<style>html { height: 2000px }</style><main id="app"><div id="list"></div></main>
  <script>
    let count = 0
    const row = () => '<button id="row" style="margin: 20px">Row ' + count++ + '</button>'
    list.innerHTML = row()
  </script>`

/** Forms by id, with what Tab comes to in them. */
const forms: Record<string, [html: string, stops: string[]]> = {
  plain: ['<input id="name"><button id="save">Save</button>', ['name', 'save']],
  radios: [
    `<input type="radio" name="a" id="a1"><input type="radio" name="a" id="a2">
    <input type="radio" name="b" id="b1"><input type="radio" name="b" id="b2" checked>`,
    ['a1', 'b2'],
  ],
  usable: [
    `<input disabled><input hidden><fieldset disabled><input></fieldset><div inert><input></div>
    <button id="first">1</button><button tabindex="-1">2</button><div id="edited" contenteditable>3</div>
    <button style="visibility: hidden">4</button><details><summary id="more">5</summary><input></details>`,
    ['first', 'edited', 'more'],
  ],
  ordered: [
    '<button id="third">3</button><button id="second" tabindex="2">2</button><button id="one" tabindex="1">1</button>',
    ['one', 'second', 'third'],
  ],
  shadowed: [
    '<own-field><button id="slotted">2</button></own-field>',
    ['inner', 'slotted', 'outer'],
  ],
  framed: [
    '<input id="before"><iframe id="frame" srcdoc="<button>In</button>"></iframe>',
    ['before', 'frame'],
  ],
}
const formPage = `<a href="#top" id="top">Top</a>
  <script>
    customElements.define('own-field', class extends HTMLElement {
      connectedCallback() {
        this.attachShadow({ mode: 'open' }).innerHTML = '<input id="inner"><slot></slot><button id="outer">3</button>'
      }
    })
  </script>
  ${Object.entries(forms)
    .map(([id, [html]]) => `<div id="${id}">${html}</div>`)
    .join('')}
  <button id="alone">Alone</button><a href="#end" id="end">End</a>`

const step = (key: string, title: string, more: string) =>
  `    - { key: ${key}, title: ${title}, ${more} }`
const flow = (key: string, steps: string[]) => `
- key: ${key}
  frequency: always
  targeting: { urls: [{ match: exact, pattern: /${key} }] }
  steps:
${steps.join('\n')}
`
const spotlights = ['dim', 'block', 'off'] as const

const flows = [
  flow(
    'presses',
    Object.keys(pressed).flatMap(id => {
      const rest = `spotlight: off, target: { selector: "[id='${id}']", waitMs: 0, required: false }, advance: { on: click }`
      return [step(id, id, rest), step(`${id}-again`, `${id} again`, rest)]
    }),
  ),
  flow('redrawn', [
    step('ask', 'Asked', 'target: { selector: "#row" }, question: { type: text }'),
    step('press', 'Press', 'target: { selector: "#row" }, advance: { on: click }'),
    step('spot', 'Spot', 'kind: hotspot, target: { selector: "#row" }'),
    '    - { key: modal, kind: modal, title: Modal, question: { type: text } }',
    '    - { key: end, kind: modal, title: The end }',
  ]),
  flow(
    'forms',
    spotlights.flatMap(spotlight =>
      [...Object.keys(forms), 'alone'].map(id =>
        step(
          `${id}-${spotlight}`,
          `${id} ${spotlight}`,
          `spotlight: ${spotlight}, target: { selector: "#${id}" }`,
        ),
      ),
    ),
  ),
].join('')
const pages: Record<string, string> = { presses: pressPage, redrawn: redrawPage, forms: formPage }

let site: Site
let origin: string
beforeAll(async () => {
  site = await Site.open(flows)
  const head = '<!doctype html><html lang="en"><title>Own</title><link rel="icon" href="data:,">'
  origin = site.serve(({ pathname }) => {
    const page = head + (pages[pathname.slice(1)] ?? '') + site.tag()
    return new Response(page, { headers: { 'Content-Type': 'text/html' } })
  })
})
afterAll(() => site.close())

async function open(name: string, options = {}) {
  const { page } = await site.browser.page({ clock: true, ...options })
  await page.goto(`${origin}/${name}`)
  return { page, ...shown(page) }
}

/** The id or class of the element that has the focus, in whichever shadow tree. */
const focused = (page: Page) =>
  page.evaluate(() => {
    let at = document.activeElement
    while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement
    return at?.id || at?.className
  })

test('a press advances once, whatever the page does with it, unless it is dragged away or disabled', async () => {
  const { page, title, says, button } = await open('presses', {
    hasTouch: true,
    reducedMotion: 'reduce',
  })
  for (const [id, { act = click, counts = true }] of Object.entries(pressed)) {
    await says(id)
    await page.locator(`#${id}`).scrollIntoViewIfNeeded()
    await act(page, id)
    if (counts) await says(`${id} again`)
    // Whatever else may follow from the press has followed.
    await page.clock.runFor(600)
    expect(await title.textContent()).toBe(counts ? `${id} again` : id)
    await button('Skip').click()
    if (!counts) await button('Skip').click()
  }
})

describe('on a page that draws its elements anew', () => {
  test('a card stays, with its press, its focus and what is typed', async () => {
    const { page, says, card, button } = await open('redrawn')
    await says('Asked')
    await page.mouse.wheel(0, 30)
    await page.waitForFunction(() => scrollY === 30)
    const mark = () => card.evaluate(element => Object.assign(element, { isSame: true }))
    const isSame = () => card.evaluate(element => 'isSame' in element)
    await mark()
    const field = card.locator('textarea')
    await field.click()
    const words = Object.keys(redrawn)
    for (const [i, draw] of Object.values(redrawn).entries()) {
      await page.evaluate(draw)
      await page.keyboard.type(`${i} `)
      await page.clock.runFor(300)
      await page.evaluate("list.textContent = ''")
      await page.keyboard.type(`${words[i]}. `)
      await page.clock.runFor(500)
      await page.evaluate(draw)
      await page.clock.runFor(300)
    }
    expect(await isSame()).toBe(true)
    expect(await field.inputValue()).toBe(words.map((word, i) => `${i} ${word}. `).join(''))
    expect(await page.evaluate(() => scrollY)).toBe(30)
    const pressWhile = async (selector: string, draw: string) => {
      // The page may still scroll to the element, and the spotlight is drawn a frame after the card.
      let last = Number.NaN
      const { x, y } = await until(
        async () => {
          const { x, y } = await middleOf(page, selector)
          const hit = await page.evaluate(([x, y]) => document.elementFromPoint(x!, y!)?.id, [x, y])
          const isStill = y === last
          last = y
          return { x, y, hit, isStill }
        },
        ({ hit, isStill }) => isStill && (selector !== '#row' || hit === 'row'),
      )
      await page.mouse.move(x, y)
      await page.mouse.down()
      await page.evaluate(draw)
      await page.clock.runFor(300)
      await page.mouse.up()
      await page.clock.runFor(1_000)
    }
    await pressWhile('[data-cairn] .button.main', redrawn['the whole body'])
    await says('Press')
    await pressWhile('#row', redrawn['the list around it'])
    const spot = page.locator('[data-cairn] .spot')
    await spot.click()
    await says('Spot')
    await mark()
    await page.evaluate(redrawn['the whole body'])
    await page.clock.runFor(300)
    expect(await isSame()).toBe(true)
    expect(await spot.isVisible()).toBe(true)
    await button('Next').click()
    await says('Modal')
    await field.click()
    await page.keyboard.type('One ')
    await page.evaluate(redrawn['the whole body'])
    await page.keyboard.type('two')
    expect(await field.inputValue()).toBe('One two')
    await button('Next').click()
    await says('The end')
    await allSent(page)
    const { steps } = await site.until('redrawn', ({ steps }) => steps[4]?.reached === 1)
    expect(
      steps.map(({ reached, completed, targetMissing }) => [reached, completed, targetMissing]),
    ).toEqual([
      [1, 1, 0],
      [1, 1, 0],
      [1, 1, 0],
      [1, 1, 0],
      [1, 0, 0],
    ])
  })
})

test('Tab goes from a card to the controls it stands beside and back, and through a page that can be used', async () => {
  const { page, says, card, button } = await open('forms', { reducedMotion: 'reduce' })
  /** Where a key leads until it comes back to where it led first, or to `end`. */
  const walk = async (name: string, end = '') => {
    const seen: (string | undefined)[] = []
    while (seen.length < 40) {
      await page.keyboard.press(name)
      const at = await focused(page)
      if (at === end || (seen.length > 1 && at === seen[0])) return seen
      // In a frame there may be several stops.
      if (at !== seen.at(-1)) seen.push(at)
    }
    return seen
  }
  const stopsOf = { ...Object.fromEntries(Object.entries(forms)), alone: ['', ['alone']] as const }
  for (const spotlight of spotlights) {
    for (const [id, [, stops]] of Object.entries(stopsOf)) {
      await says(`${id} ${spotlight}`)
      const own = await card.locator('button').evaluateAll(all => all.map(one => one.className))
      const ring = [...own, ...stops]
      if (spotlight === 'off') {
        const seen = await walk('Tab', 'top')
        // In a page that can be used the order is its own: what has no tabindex comes from the top.
        const first = id === 'ordered' ? ring.slice(0, -1) : ring
        expect({ id, seen: seen.slice(0, first.length) }).toEqual({ id, seen: first })
        if (id !== 'ordered') expect(seen).toContain('end')
      } else {
        expect({ id, seen: await walk('Tab') }).toEqual({ id, seen: ring })
        expect({ id, seen: await walk('Shift+Tab') }).toEqual({ id, seen: ring.reverse() })
      }
      await button('Next').or(button('Done')).click()
    }
  }
})
