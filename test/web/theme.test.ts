import { expect } from 'bun:test'
import { until } from '../../scripts/support/until.ts'
import { afterAll, beforeAll, describe, test } from '../support/in-browser.ts'
import { Site, shown } from '../support/site.ts'

/** How flows look on pages with their own colours and fonts: by page, flow, organisation and preset. */

const brand = '#0b7285'
const flowAt = (key: string, theme: string, kind = 'tooltip') => `
- key: ${key}
  frequency: always
  theme: ${theme}
  targeting: { urls: [{ match: exact, pattern: /${key} }] }
  steps: [{ key: one, kind: ${kind}, title: One, body: Text., target: { selector: "#new" } }]`

const flows = [
  flowAt('plain', 'null'),
  flowAt('brand', `{ accent: "${brand}" }`),
  flowAt('dark', `{ accent: "${brand}", dark: { accent: "#3bc9db", background: "#14202a" } }`),
  flowAt('own', '{ font: { family: monospace, size: 20 }, border: { width: 3, color: red } }'),
  flowAt('layer', '{ zIndex: 5 }', 'hotspot'),
  flowAt('logo', '{ logo: /logo.svg, dark: { logo: /dark.svg } }', 'modal'),
  flowAt('pale', '{ accent: "#fff" }', 'modal'),
].join('')

let site: Site
let pages: string
const requested: string[] = []
beforeAll(async () => {
  site = await Site.open(flows)
  pages = site.serve(({ pathname, searchParams }) => {
    requested.push(pathname)
    const page = `<!doctype html><html lang="en"><title>Own</title><link rel="icon" href="data:,">
      <style>${searchParams.get('css') ?? ''} header { padding: 20px } .chat { position: fixed; inset: 0 0 auto auto; z-index: 10; width: 9em; height: 9em }</style>
      <header><button id="new">New</button></header><div class="chat" hidden></div>${site.tag()}`
    return new Response(page, { headers: { 'Content-Type': 'text/html' } })
  })
})
afterAll(() => site.close())

async function open(flow: string, css = '', ready = '.card') {
  const { page } = await site.browser.page()
  const messages: string[] = []
  page.on('console', message => messages.push(message.text()))
  await page.goto(`${pages}/${flow}?${new URLSearchParams({ css })}`)
  await page.locator(`[data-cairn] ${ready}`).first().waitFor()
  const stylesOf = (selector: string, names: string[], pseudo = '') =>
    page
      .locator(`[data-cairn] ${selector}`)
      .evaluate(
        (one, [names, pseudo]) =>
          Object.fromEntries(
            names.map(name => [name, getComputedStyle(one, pseudo).getPropertyValue(name)]),
          ),
        [names, pseudo] as const,
      )
  return { page, messages, stylesOf, ...shown(page) }
}

const darkPage = 'body { background: #111 }'
const mainButton = '.button.main'

/** The expected styles by selector. */
type Styles = Record<string, Record<string, string>>

const appearances: Record<string, [flow: string, css: string, styles: Styles]> = {
  'a flow without a theme has the font of the page': [
    'plain',
    'body { font: italic 30px "DejaVu Serif", serif }',
    {
      '.card': {
        'font-family': '"DejaVu Serif", serif',
        'font-size': '15px',
        'font-style': 'normal',
      },
    },
  ],
  'a flow without a theme has the system’s font if the page has none': [
    'plain',
    '',
    { '.card': { 'font-family': 'system-ui, sans-serif' } },
  ],
  'the tokens of a page override every theme, and text on its accent is readable': [
    'brand',
    ':root { --brand: #ffe066; --cairn-accent: var(--brand); --cairn-radius: 3px; --cairn-background: #111; --cairn-font: monospace; --cairn-space: 40px }',
    {
      '.card': {
        'background-color': 'rgb(17, 17, 17)',
        color: 'rgb(230, 237, 243)',
        'border-top-left-radius': '3px',
        'font-family': 'monospace',
      },
      [mainButton]: { 'background-color': 'rgb(255, 224, 102)', color: 'rgb(0, 0, 0)' },
      '.inner': { 'padding-top': '50px' },
    },
  ],
  'a theme has colours for dark pages': [
    'dark',
    darkPage,
    {
      '.card': { 'background-color': 'rgb(20, 32, 42)', color: 'rgb(230, 237, 243)' },
      [mainButton]: { 'background-color': 'rgb(59, 201, 219)', color: 'rgb(0, 0, 0)' },
    },
  ],
  'a theme has its fonts, sizes and borders': [
    'own',
    'body { font-family: serif }',
    {
      '.card': {
        'font-family': 'monospace',
        'font-size': '20px',
        'border-top-width': '3px',
        'border-top-color': 'rgb(255, 0, 0)',
      },
    },
  ],
  'on a header of its own colour the ring is visible by a second line': [
    'brand',
    `header { background: ${brand} }`,
    { '.ring::before': { 'outline-style': 'solid', 'outline-color': 'rgb(255, 255, 255)' } },
  ],
  'on an image the ring is visible by a second line': [
    'brand',
    `header { background: linear-gradient(${brand}, red) }`,
    { '.ring::before': { 'outline-style': 'solid', 'outline-color': 'rgb(255, 255, 255)' } },
  ],
  'on a pale ground the ring is visible by a dark line': [
    'brand',
    'header { background: #4dabbd }',
    { '.ring::before': { 'outline-style': 'solid', 'outline-color': 'rgb(0, 0, 0)' } },
  ],
  'on white the ring is visible by itself': [
    'brand',
    '',
    { '.ring::before': { 'outline-style': 'none' } },
  ],
  'on a page that is dark by its scheme alone the ring is visible': [
    'brand',
    ':root { color-scheme: dark; --cairn-accent: #043 }',
    { '.ring::before': { 'outline-style': 'solid', 'outline-color': 'rgb(255, 255, 255)' } },
  ],
}

/** The styles that differ from those expected. */
async function wrongStyles(
  { stylesOf }: Awaited<ReturnType<typeof open>>,
  styles: Styles,
): Promise<Styles> {
  const wrong: Styles = {}
  for (const [selector, expected] of Object.entries(styles)) {
    const [element, pseudo] = selector.split('::')
    const found = await stylesOf(element!, Object.keys(expected), pseudo && `::${pseudo}`)
    if (!Bun.deepEquals(found, expected)) wrong[selector] = found
  }
  return wrong
}

test('themes, tokens and the page determine the styles of a flow, and its ring is visible', async () => {
  const visitor = await open('plain')
  const wrong: Record<string, Styles> = {}
  for (const [name, [flow, css, styles]] of Object.entries(appearances)) {
    // Otherwise the open flow prevents the next one.
    await visitor.button('Close').click()
    await visitor.card.waitFor({ state: 'detached' })
    await visitor.page.goto(`${pages}/${flow}?${new URLSearchParams({ css })}`)
    await visitor.card.waitFor()
    const found = await wrongStyles(visitor, styles)
    if (Object.keys(found).length > 0) wrong[name] = found
  }
  expect(wrong).toEqual({})
})

describe('the page', () => {
  test('reports an invalid token in the console, and ignores it', async () => {
    const css = ':root { --cairn-accent: reddish; --cairn-space: 4; --cairn-radius: 5px }'
    const visitor = await open('brand', css)
    const styles = {
      [mainButton]: { 'background-color': 'rgb(11, 114, 133)' },
      '.card': { 'border-top-left-radius': '5px' },
    }
    expect(await wrongStyles(visitor, styles)).toEqual({})
    expect(visitor.messages.filter(text => text.includes('--cairn-'))).toEqual([
      expect.stringContaining('--cairn-accent: "reddish"'),
      expect.stringContaining('--cairn-space: "4"'),
    ])
  })

  test('changes the card when it turns dark or light, or sets another token', async () => {
    const visitor = await open('dark')
    const becomes = (accent: string, color: string) =>
      until(async () => {
        const styles = { [mainButton]: { 'background-color': accent, color } }
        return Object.keys(await wrongStyles(visitor, styles)).length === 0
      })
    const set = (name: string, value: string) =>
      visitor.page.evaluate(`document.documentElement.style.setProperty('${name}', '${value}')`)
    await becomes('rgb(11, 114, 133)', 'rgb(255, 255, 255)')
    await visitor.page.evaluate("document.body.style.background = '#111'")
    await becomes('rgb(59, 201, 219)', 'rgb(0, 0, 0)')
    await visitor.page.evaluate("document.body.style.background = '#fff'")
    await becomes('rgb(11, 114, 133)', 'rgb(255, 255, 255)')
    await set('--cairn-accent', 'black')
    await becomes('rgb(0, 0, 0)', 'rgb(255, 255, 255)')
  })
})

test('a flow’s theme overrides the organisation’s, and that overrides the preset, field by field', async () => {
  const theme = { preset: 'bold', accent: '#c2255c', radius: 1, font: { size: 13 } }
  await site.place.json(['api', 'PATCH', '/settings', '--body', JSON.stringify({ theme })])
  const card = {
    'border-top-left-radius': '1px',
    'border-top-width': '2px',
    'font-size': '13px',
  }
  const plain = await open('plain')
  const ofOrganisation = { '.card': card, [mainButton]: { 'background-color': 'rgb(194, 37, 92)' } }
  expect(await wrongStyles(plain, ofOrganisation)).toEqual({})
  const branded = await open('brand')
  const ofFlow = { '.card': card, [mainButton]: { 'background-color': 'rgb(11, 114, 133)' } }
  expect(await wrongStyles(branded, ofFlow)).toEqual({})
  await site.place.run(['org', 'unset', 'theme'])
})

test('a modal has a logo above its heading, and another logo on dark pages', async () => {
  for (const [css, image] of [
    ['', 'logo.svg'],
    [darkPage, 'dark.svg'],
  ] as const) {
    requested.length = 0
    const { stylesOf } = await open('logo', css)
    expect(await stylesOf('.inner', ['background-image'], '::before')).toEqual({
      'background-image': `url("${pages}/${image}")`,
    })
    await until(() => requested.includes(`/${image}`))
  }
})

test('a button in the colour of its card has a visible border', async () => {
  const { stylesOf } = await open('pale')
  const card = await stylesOf('.card', ['background-color'])
  const button = await stylesOf(mainButton, ['background-color', 'border-top-color'])
  expect(button['background-color']).toBe(card['background-color']!)
  expect(button['border-top-color']).not.toBe(card['background-color']!)
})

test('a flow on a layer is covered by what the page has above it, and can be used', async () => {
  const { page, button, card } = await open('layer', '', '.spot')
  await page.locator('[data-cairn] .spot').click()
  await card.waitFor()
  const topmost = () =>
    page.evaluate(`{
      const { shadowRoot } = document.querySelector('[data-cairn]')
      const { left, top, width, height } = shadowRoot.querySelector('.card').getBoundingClientRect()
      const px = { left, top, width, height }
      const chat = document.querySelector('.chat')
      for (const [name, value] of Object.entries(px)) chat.style[name] = value + 'px'
      document.elementFromPoint(left + width / 2, top + height / 2)?.className
    }`)
  expect(await topmost()).toBe('')
  await page.evaluate("document.querySelector('.chat').hidden = false")
  expect(await topmost()).toBe('chat')
  await page.evaluate("document.querySelector('.chat').hidden = true")
  await button('Done').click()
  await card.waitFor({ state: 'detached' })
})
