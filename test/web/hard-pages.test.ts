import { expect } from 'bun:test'
import { type Page, pass } from '../support/browser.ts'
import { afterAll, beforeAll, describe, test } from '../support/in-browser.ts'
import { allSent, html, Site, shown } from '../support/site.ts'

/** Pages whose own dialogs, styles, scripts and navigation make it hard to show something on them. */

/** What the pages have, and the steps that are shown on them. */
const cases = {
  dialog: {
    page: '<dialog id="own"><button id="in">In</button></dialog><script>own.showModal()</script>',
    steps: '[{ title: One, target: { selector: "#in" } }, { kind: modal, title: Two }]',
  },
  keys: {
    page: `<p id="in">Press me</p><input id="field">
      <script>document.body.addEventListener('keydown', event => event.stopPropagation())</script>`,
    steps: `[{ title: One, target: { selector: "#in" }, advance: { on: click } },
      { title: Two, target: { selector: "#in" } }, { kind: modal, title: Three }]`,
  },
  styled: {
    page: '<style>div { display: none !important } * { transition: all 2s }</style>',
    steps: '[{ title: One, target: { selector: h1 } }]',
  },
  zoomed: {
    page: '<style>html { zoom: 1.5 }</style><button id="in">In</button>',
    steps: '[{ title: One, target: { selector: "#in" } }]',
  },
  full: {
    page: '<style>body { margin: 0 } h1 { height: 100vh; margin: 0 }</style>',
    steps: '[{ title: One, target: { selector: h1 } }]',
  },
  swapped: { page: '', steps: '[{ kind: modal, title: One }]' },
  nested: {
    page: '',
    steps: `[{ kind: modal, title: One, body: "${'>'.repeat(9_000)} deep" }]`,
  },
  long: {
    page: '',
    steps: `[{ kind: modal, title: ${'T'.repeat(120)}, body: "${'Many words. '.repeat(240)}",
      buttons: [{ label: ${'L'.repeat(90)}, action: complete }] }]`,
  },
  gap: {
    page: '',
    steps: `[{ title: Never, target: { selector: "#none", waitMs: 0 } }, { kind: modal, title: One },
      { title: Never, target: { selector: "#none", waitMs: 900 } }, { kind: modal, title: Two }]`,
  },
  away: {
    page: '<a id="in" href="/hard/away/slow">In</a>',
    steps: `[{ title: One, target: { selector: "#in" }, advance: { on: click } },
      { title: Two, target: { selector: "#there", waitMs: 300 } }, { kind: modal, title: Three }]`,
  },
} as const

type Case = keyof typeof cases

const flows = Object.entries(cases)
  .map(
    ([key, { steps }]) => `
- key: ${key}
  targeting: { urls: [{ match: prefix, pattern: /hard/${key} }] }
  steps: ${steps.replace(/\{ (title|kind)/g, (_, field, at) => `{ key: s${at}, ${field}`)}`,
  )
  .join('')

const themes = { pale: 'oklch(0.95 0.2 110)', dark: '#000' } as const
const themed = `
- key: pale
  theme: { accent: "${themes.pale}" }
  targeting: { urls: [{ match: prefix, pattern: /hard/pale }] }
  steps: [{ key: one, kind: modal, title: One, body: "A [link](/hard/pale/on)." }]
- key: dark
  theme: { background: "${themes.dark}" }
  targeting: { urls: [{ match: prefix, pattern: /hard/dark }] }
  steps: [{ key: one, kind: modal, title: One, body: Text. }]
- key: list
  kind: checklist
  targeting: { urls: [{ match: prefix, pattern: /hard/list }] }
  checklist:
    items:
      - { key: own, title: Done by doing, description: "See [how](/hard/list/how).", completeOn: { event: done } }
${Array.from({ length: 29 }, (_, i) => `      - { key: i${i}, title: Item ${i} }`).join('\n')}
`

let site: Site
let pages: string
/** Holds the next page back: until it resolves, that page is on its way. */
const slow = Promise.withResolvers<void>()
beforeAll(async () => {
  site = await Site.open(flows + themed)
  pages = site.serve(async ({ pathname }) => {
    const [, , name = '', more] = pathname.split('/')
    if (more === 'on') slow.resolve()
    if (more === 'slow') await slow.promise
    const next = more === 'slow' ? '<button id="there">There</button>' : ''
    return html(`${name in cases ? cases[name as Case].page : ''}${next}${site.tag()}`)
  })
})
afterAll(() => site.close())

/** Opens a page of its own, with the snippet. */
async function open(name: Case | 'pale' | 'dark' | 'list', options = {}) {
  const { page } = await site.browser.page({ clock: true, ...options })
  await page.goto(`${pages}/hard/${name}`)
  return { page, ...shown(page) }
}

/** The element that has the keyboard focus, in whichever shadow tree. */
const focused = (page: Page) =>
  page.evaluate(() => {
    let at = document.activeElement
    while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement
    return at?.id || at?.className
  })

const ringIsAround = async (page: Page, selector: string) => {
  const ring = await page.locator('[data-cairn] .ring').boundingBox()
  const element = await page.locator(selector).boundingBox()
  return Math.abs(ring!.x - element!.x) < 2 && Math.abs(ring!.y - element!.y) < 2
}

describe('keys', () => {
  test('Escape on a card in a dialog closes the card, not the dialog', async () => {
    const { page, says, card } = await open('dialog')
    await says('One')
    await page.keyboard.press('Escape')
    await card.waitFor({ state: 'detached' })
    expect(await page.locator('#own').isVisible()).toBe(true)
    expect(await focused(page)).toBe('in')
  })

  test('work where the page stops them, skip what cannot be focused, and leave the browser its own', async () => {
    const { page, says, title, card } = await open('keys')
    await says('One')
    const seen = new Set<unknown>()
    for (let i = 0; i < 4; i++) {
      await page.keyboard.press('Tab')
      seen.add(await focused(page))
    }
    expect(seen).toEqual(new Set(['button', 'close']))
    await page.locator('#in').click()
    await says('Two')
    await page.locator('#field').focus()
    for (const key of ['x', 'ArrowRight', 'ArrowLeft', 'Escape']) await page.keyboard.press(key)
    expect(await title.textContent()).toBe('Two')
    await card.focus()
    await page.keyboard.press('ArrowRight')
    await says('Three')
    await page.keyboard.press('Control+ArrowLeft')
    expect(await title.textContent()).toBe('Three')
  })
})

describe('styles', () => {
  test('of the page do not hide a step, move it away from its element or let it scroll the page', async () => {
    const { page, says, button, card } = await open('styled')
    const next = async (name: Case) => {
      await button('Done').click()
      await card.waitFor({ state: 'detached' })
      await page.goto(`${pages}/hard/${name}`)
    }
    await says('One')
    await next('zoomed')
    await says('One')
    expect(await ringIsAround(page, '#in')).toBe(true)
    await next('full')
    await says('One')
    const extra = await page.evaluate('document.documentElement.scrollHeight - innerHeight')
    expect(extra).toBe(0)
  })

  test('text is readable on any accent colour, and on any background', async () => {
    const pale = await open('pale')
    await pale.says('One')
    const colourOf = (element: Element) => getComputedStyle(element).color
    expect(await pale.button('Done').evaluate(colourOf)).toBe('rgb(0, 0, 0)')
    // A link on white does not have the accent colour.
    const body = await pale.card.locator('.body').evaluate(colourOf)
    expect(await pale.card.locator('a').evaluate(colourOf)).toBe(body)
    await pale.page.close()
    const dark = await open('dark')
    await dark.says('One')
    expect(await dark.card.evaluate(colourOf)).toBe('rgb(230, 237, 243)')
  })

  test('a theme with URLs as colours loads nothing', async () => {
    const { page } = await site.browser.page()
    const requested: string[] = []
    page.on('request', request => requested.push(request.url()))
    let value = ''
    await page.route('**/api/v1/flows*', async route => {
      const answer = await route.fetch()
      const theme = {
        ...{ accent: value, background: value, text: value, radius: value, zIndex: value },
        ...{ shadow: value, density: value, font: { family: value, size: value } },
        ...{ border: { color: value, width: value }, dark: { background: value } },
      }
      const { flows, ...more } = await answer.json()
      const themed = flows.map((flow: object) => ({ ...flow, theme }))
      await route.fulfill({ response: answer, json: { flows: themed, ...more } })
    })
    const pixel = 'url(//127.0.0.1:9/pixel.png)'
    for (value of [pixel, `red; background-image: ${pixel}`, `image-set(${pixel} 1x)`]) {
      await page.goto(`${pages}/hard/dark`)
      const { says, card } = shown(page)
      await says('One')
      const style = await card.evaluate(element => element.closest('.root')?.getAttribute('style'))
      expect(style).not.toContain('pixel')
      await page.evaluate('localStorage.clear()')
    }
    expect(requested.filter(url => url.includes('pixel'))).toEqual([])
  })

  test('long words and texts stay in the card, and its buttons can be reached', async () => {
    const { card, button } = await open('long', { viewport: { width: 320, height: 480 } })
    const last = button('L'.repeat(90))
    await last.scrollIntoViewIfNeeded()
    const [outer, inner] = [await card.boundingBox(), await last.boundingBox()]
    expect(inner!.x + inner!.width).toBeLessThanOrEqual(outer!.x + outer!.width)
    expect(inner!.y + inner!.height).toBeLessThanOrEqual(outer!.y + outer!.height)
    expect(outer!.height).toBeLessThanOrEqual(480)
    await last.click()
    await card.waitFor({ state: 'detached' })
  })
})

describe('the way through', () => {
  test('a page that replaces its body shows the step again, unless it keeps removing it', async () => {
    const { page, says } = await open('swapped')
    await says('One')
    await page.evaluate('document.body.replaceChildren()')
    await says('One')
    await page.evaluate(() => {
      const swept = window as unknown as { removed: number }
      swept.removed = 0
      const sweep = () => {
        const host = document.querySelector('[data-cairn]')
        if (!host) return
        host.remove()
        swept.removed++
      }
      new MutationObserver(sweep).observe(document.body, { childList: true })
      sweep()
    })
    await pass(page, 60_000)
    expect(await page.evaluate('removed')).toBeLessThan(30)
  })

  test('a text nested too deep is shown as it was written', async () => {
    const { says, card } = await open('nested')
    await says('One')
    expect(await card.locator('.body').textContent()).toEndWith('deep')
  })

  test('back leads to the step that was seen before, and nowhere from the first', async () => {
    const { says, button } = await open('gap')
    await says('One')
    expect(await button('Back').count()).toBe(0)
    await button('Next').click()
    await says('Two')
    await button('Back').click()
    await says('One')
  })

  test('a step whose element is on the next page is not missing while that page is loading', async () => {
    const { page, says } = await open('away')
    await says('One')
    await page.evaluate(() =>
      // Longer than the next step waits for its element.
      addEventListener('click', () => setTimeout(() => fetch('/hard/away/on'), 1_500)),
    )
    await page.locator('#in').click({ noWaitAfter: true })
    await page.waitForURL('**/slow')
    await says('Two')
    await allSent(page)
    const { steps } = await site.until('away', ({ steps }) => steps[1]!.reached === 1)
    expect(steps[1]).toMatchObject({ reached: 1, targetMissing: 0 })
  })
})

describe('a checklist', () => {
  test('links of an item can be followed, and an item that is not for pressing is no button', async () => {
    const { page, panel } = await open('list')
    await panel.waitFor()
    expect(await panel.locator('button a').count()).toBe(0)
    expect(await panel.getByRole('button', { name: 'Done by doing' }).count()).toBe(0)
    await panel.getByRole('link', { name: 'how' }).click()
    await page.waitForURL('**/how')
  })

  test('a tick leaves a long list where it was, and the focus at the next item', async () => {
    const { page, panel } = await open('list')
    await panel.waitFor()
    // Waits for the server's own ticks, because they redraw the panel.
    await page.waitForLoadState('networkidle')
    await panel.getByRole('button', { name: 'Item 20' }).click()
    await panel.locator('.ticked').waitFor()
    const active = () =>
      panel.evaluate(element => (element.getRootNode() as ShadowRoot).activeElement?.textContent)
    expect(await active()).toBe('Item 21')
    expect(await panel.locator('.inner').evaluate(inner => inner.scrollTop)).toBeGreaterThan(100)
    expect(await panel.evaluate(element => getComputedStyle(element).animationName)).toBe('none')
    await page.evaluate(() => document.body.replaceChildren())
    await panel.waitFor()
  })
})
