import { expect } from 'bun:test'
import { until } from '../../scripts/support/until.ts'
import type { Locator } from '../browser/playwright.ts'
import { afterAll, beforeAll, describe, test } from '../support/in-browser.ts'
import { Site, shown } from '../support/site.ts'

/** How flows look on pages with their own colours and fonts: by page, flow, organisation and preset. */

const brand = '#0b7285'
const steps = (kind = 'tooltip') =>
  `[{ key: one, kind: ${kind}, title: One, body: Text., target: { selector: "#new" } }]`
const flowAt = (key: string, theme: string, kind?: string) => `
- key: ${key}
  frequency: always
  theme: ${theme}
  targeting: { urls: [{ match: exact, pattern: /${key} }] }
  steps: ${steps(kind)}`

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
let pages: ReturnType<typeof Bun.serve>
const asked: string[] = []
beforeAll(async () => {
  site = await Site.open(flows)
  const fetch = ({ url }: Request) => {
    const { pathname, searchParams } = new URL(url)
    asked.push(pathname)
    const tag = `<script async src="${site.server.url}/snippet.js" data-key="${site.snippetKey}"></script>`
    const page = `<!doctype html><html lang="en"><title>Own</title><link rel="icon" href="data:,">
      <style>${searchParams.get('css') ?? ''} header { padding: 20px } .chat { position: fixed; inset: 0 0 auto auto; z-index: 10; width: 9em; height: 9em }</style>
      <header><button id="new">New</button></header><div class="chat" hidden></div>${tag}`
    return new Response(page, { headers: { 'Content-Type': 'text/html' } })
  }
  pages = Bun.serve({ hostname: 'localhost', port: 0, fetch })
})
afterAll(async () => {
  pages.stop(true)
  await site.close()
})

async function open(flow: string, css = '', ready = '.card') {
  const { page } = await site.browser.page()
  const said: string[] = []
  page.on('console', message => said.push(message.text()))
  await page.goto(`http://localhost:${pages.port}/${flow}?${new URLSearchParams({ css })}`)
  await page.locator(`[data-cairn] ${ready}`).first().waitFor()
  return { page, said, ...shown(page) }
}

const styleOf = (element: Locator, ...names: string[]) =>
  element.evaluate(
    (one, asked) => asked.map(name => getComputedStyle(one).getPropertyValue(name)),
    names,
  )

const darkPage = 'body { background: #111 }'

describe('without a theme', () => {
  test('a flow has the font of the page, or the system’s if the page has none', async () => {
    const styled = await open('plain', 'body { font: italic 30px "DejaVu Serif", serif }')
    expect(await styleOf(styled.card, 'font-family', 'font-size', 'font-style')).toEqual([
      ...['"DejaVu Serif", serif', '15px', 'normal'],
    ])
    await styled.page.close()
    const bare = await open('plain')
    expect(await styleOf(bare.card, 'font-family')).toEqual(['system-ui, sans-serif'])
  })
})

describe('the page', () => {
  test('overrides every theme by its tokens, and text on its accent is readable', async () => {
    const css =
      ':root { --brand: #ffe066; --cairn-accent: var(--brand); --cairn-radius: 3px; --cairn-background: #111; --cairn-font: monospace; --cairn-space: 40px }'
    const { card, button } = await open('brand', css)
    expect(
      await styleOf(card, 'background-color', 'color', 'border-top-left-radius', 'font-family'),
    ).toEqual(['rgb(17, 17, 17)', 'rgb(230, 237, 243)', '3px', 'monospace'])
    expect(await styleOf(button('Done'), 'background-color', 'color')).toEqual([
      ...['rgb(255, 224, 102)', 'rgb(0, 0, 0)'],
    ])
    expect(await styleOf(card.locator('.inner'), 'padding-top')).toEqual(['50px'])
  })

  test('is told of an invalid token, which changes nothing', async () => {
    const css = ':root { --cairn-accent: reddish; --cairn-space: 4; --cairn-radius: 5px }'
    const { said, card, button } = await open('brand', css)
    expect(await styleOf(button('Done'), 'background-color')).toEqual(['rgb(11, 114, 133)'])
    expect(await styleOf(card, 'border-top-left-radius')).toEqual(['5px'])
    expect(said.filter(text => text.includes('--cairn-'))).toEqual([
      expect.stringContaining('--cairn-accent: "reddish"'),
      expect.stringContaining('--cairn-space: "4"'),
    ])
  })

  test('changes what is shown when it turns dark, or sets another token', async () => {
    const { page, button } = await open('dark')
    const accent = () => styleOf(button('Done'), 'background-color')
    expect(await accent()).toEqual(['rgb(11, 114, 133)'])
    await page.evaluate("document.body.style.background = '#111'")
    await until(accent, ([colour]) => colour === 'rgb(59, 201, 219)')
    await page.evaluate("document.documentElement.style.setProperty('--cairn-accent', 'black')")
    await until(accent, ([colour]) => colour === 'rgb(0, 0, 0)')
    await until(
      () => styleOf(button('Done'), 'color'),
      ([colour]) => colour === 'rgb(255, 255, 255)',
    )
  })
})

describe('a flow’s theme', () => {
  test('has colours for dark pages', async () => {
    const { card, button } = await open('dark', darkPage)
    expect(await styleOf(card, 'background-color', 'color')).toEqual([
      ...['rgb(20, 32, 42)', 'rgb(230, 237, 243)'],
    ])
    expect(await styleOf(button('Done'), 'background-color', 'color')).toEqual([
      ...['rgb(59, 201, 219)', 'rgb(0, 0, 0)'],
    ])
  })

  test('has its fonts, sizes and borders', async () => {
    const { card } = await open('own', 'body { font-family: serif }')
    const names = ['font-family', 'font-size', 'border-top-width', 'border-top-color']
    expect(await styleOf(card, ...names)).toEqual(['monospace', '20px', '3px', 'rgb(255, 0, 0)'])
  })

  test('overrides the organisation’s, and that overrides the preset, field by field', async () => {
    const look = ['org', 'theme', 'harbor']
    const set = ['--preset', 'bold', '--accent', '#c2255c', '--radius', '1', '--font-size', '13']
    expect((await site.place.run([...look, ...set])).status).toBe(0)
    try {
      const plain = await open('plain')
      const names = ['border-top-left-radius', 'border-top-width', 'font-size']
      expect(await styleOf(plain.card, ...names)).toEqual(['1px', '2px', '13px'])
      expect(await styleOf(plain.button('Done'), 'background-color')).toEqual(['rgb(194, 37, 92)'])
      await plain.page.close()
      const brand = await open('brand')
      expect(await styleOf(brand.button('Done'), 'background-color')).toEqual(['rgb(11, 114, 133)'])
      expect(await styleOf(brand.card, ...names)).toEqual(['1px', '2px', '13px'])
      await brand.page.close()
    } finally {
      await site.place.run([...look, '--reset'])
    }
  })

  test('has a logo above a window’s heading, and another one on dark pages', async () => {
    for (const [css, image] of [
      ['', 'logo.svg'],
      [darkPage, 'dark.svg'],
    ] as const) {
      asked.length = 0
      const { page, card } = await open('logo', css)
      const inner = card.locator('.inner')
      const drawn = () => inner.evaluate(one => getComputedStyle(one, '::before').backgroundImage)
      expect(await drawn()).toBe(`url("http://localhost:${pages.port}/${image}")`)
      await until(
        async () => asked.filter(path => path.endsWith('.svg')),
        // A request of the page before may arrive only now.
        paths => paths.includes(`/${image}`),
      )
      await page.close()
    }
  })
})

describe('what is drawn on the page is visible', () => {
  const ringOf = (page: Awaited<ReturnType<typeof open>>['page']) =>
    page.locator('[data-cairn] .ring').evaluate(ring => {
      const { outlineStyle, outlineColor } = getComputedStyle(ring, '::before')
      return [outlineStyle, outlineColor]
    })

  test.each([
    ['on a header of its own colour', `header { background: ${brand} }`, 'rgb(255, 255, 255)'],
    ['on an image', `header { background: linear-gradient(${brand}, red) }`, 'rgb(255, 255, 255)'],
    ['on a pale brand’s', `header { background: #4dabbd }`, 'rgb(0, 0, 0)'],
  ])('the ring %s, by a second line', async (_, css, line) => {
    const { page } = await open('brand', css)
    expect(await ringOf(page)).toEqual(['solid', line])
  })

  test('the ring on white, by itself', async () => {
    const { page } = await open('brand')
    expect((await ringOf(page))[0]).toBe('none')
  })

  test('the ring on a dark page that names no colour but its scheme', async () => {
    const { page } = await open('brand', ':root { color-scheme: dark; --cairn-accent: #043 }')
    expect(await ringOf(page)).toEqual(['solid', 'rgb(255, 255, 255)'])
  })

  test('a button in the colour of the card, by its line', async () => {
    const { card, button } = await open('pale')
    const [ground] = await styleOf(card, 'background-color')
    const [fill, line] = await styleOf(button('Done'), 'background-color', 'border-top-color')
    expect(fill).toBe(ground)
    expect(line).not.toBe(ground)
  })
})

test('a flow on a layer is covered by what the page has above it, and can be used', async () => {
  const { page } = await open('layer', '', '.spot')
  const host = page.locator('[data-cairn]')
  await host.locator('.spot').click()
  await host.locator('.card').waitFor()
  const topmost = () =>
    page.evaluate(() => {
      const { shadowRoot } = document.querySelector('[data-cairn]') as Element
      const { left, top, width, height } = shadowRoot!
        .querySelector('.card')!
        .getBoundingClientRect()
      const chat = document.querySelector<HTMLElement>('.chat')!
      Object.assign(chat.style, {
        left: `${left}px`,
        top: `${top}px`,
        width: `${width}px`,
        height: `${height}px`,
      })
      return document.elementFromPoint(left + width / 2, top + height / 2)?.className
    })
  expect(await topmost()).toBe('')
  await page.evaluate("document.querySelector('.chat').hidden = false")
  expect(await topmost()).toBe('chat')
  await page.evaluate("document.querySelector('.chat').hidden = true")
  await host.getByRole('button', { name: 'Done' }).click()
  await host.locator('.card').waitFor({ state: 'detached' })
})
