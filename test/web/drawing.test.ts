import { expect } from 'bun:test'
import { until } from '../../scripts/support/until.ts'
import { type Page, pass } from '../support/browser.ts'
import { afterAll, beforeAll, describe, test } from '../support/in-browser.ts'
import { Site, shown } from '../support/site.ts'

/** How steps are drawn on a page: its light, its room for banners, its hints, its pictures. */

const flow = (key: string, steps: string) => `
- key: ${key}
  targeting: { urls: [{ match: exact, pattern: /${key} }] }
  steps: ${steps}
`

const flows = [
  flow(
    'light',
    `[{ key: a, title: One, target: { selector: "#low" } }, { key: b, title: Two, target: { selector: "#round" } },
      { key: c, title: Three, target: { selector: "#low" } }]`,
  ),
  flow(
    'held',
    '[{ key: a, title: Press it, spotlight: block, advance: { on: click }, target: { selector: "#high" } }, { key: b, title: Pressed }]',
  ),
  flow(
    'waits',
    '[{ key: a, title: Do it, advance: { on: event, event: done }, target: { selector: "#high" } }]',
  ),
  ...['pushed', 'unstyled'].map(key =>
    flow(
      key,
      '[{ key: a, kind: banner, title: News, banner: { layout: push }, buttons: [{ label: Read, action: complete }] }]',
    ),
  ),
  flow(
    'below',
    '[{ key: a, kind: banner, title: News, banner: { edge: bottom, layout: push }, buttons: [{ label: Read, action: complete }] }]',
  ),
  flow(
    'hint',
    '[{ key: a, kind: hotspot, opens: hover, title: A hint, body: What it is., target: { selector: "#high" } }]',
  ),
  flow(
    'order',
    `[{ key: a, title: Which, buttons: [{ label: On, action: next }, { label: Not now, action: dismiss }, { label: Help, action: back }] },
      ${Array.from({ length: 8 }, (_, i) => `{ key: s${i}, title: S }`).join(', ')}]`,
  ),
  flow(
    'corner',
    '[{ key: a, kind: slideout, title: By the way, body: It waits., buttons: [{ label: Fine, action: complete }] }]',
  ),
  flow(
    'film',
    `[{ key: a, title: A film, media: { video: /film.webm, poster: /still.svg, captions: /film.vtt, alt: How it works, width: 160, height: 90 } }]`,
  ),
  flow(
    'picture',
    `[{ key: a, title: A picture, media: { image: /late.svg, alt: A board, width: 640, height: 320 } }]`,
  ),
  flow(
    'long',
    `[{ key: a, title: Long, body: "${Array.from({ length: 8 }, (_, i) => `- Line ${i} of what there is to say of it`).join('\\n')}", target: { selector: "#other" } }]`,
  ),
  flow(
    'window',
    `[{ key: a, title: Welcome, body: It is new., media: { image: /still.svg, width: 640, height: 160 },
        buttons: [{ label: Not now, action: dismiss }, { label: Show me around, action: next }] },
      ${Array.from({ length: 7 }, (_, i) => `{ key: s${i}, title: S }`).join(', ')}]`,
  ),
  flow(
    'lost',
    `[{ key: a, title: Lost, media: { image: /none.svg, alt: A board, width: 640, height: 320 }, buttons: [{ label: On, action: next }] },
      { key: b, title: Lost too, media: { image: /none.svg, width: 640, height: 320 } }]`,
  ),
  flow(
    'themed',
    '[{ key: a, title: One, target: { selector: "#high" } }, { key: b, title: Two, spotlight: block, target: { selector: "#high" } }]\n  theme: { spotlight: off, progress: bar }',
  ),
  flow('large', '[{ key: a, title: A large one, target: { selector: "#large" } }]'),
].join('')

/** A page with a layout of its own, as customers' pages have. */
const html = `<!doctype html><html lang="en"><title>Own</title><link rel="icon" href="data:,">
<meta name="viewport" content="width=device-width"><link rel="stylesheet" href="/own.css">
<header><button id="high">High</button> <span id="round"></span></header>
<main><button id="other">Other</button><div id="large"></div><button id="low">Low</button></main>`

const css = `
html { margin-top: 3px } body { margin: 0; padding-top: 71px; font: 16px sans-serif }
header { position: fixed; top: 0; left: 0; right: 0; height: 50px; background: #eee }
#round { display: inline-block; width: 40px; height: 40px; border-radius: 50%; background: #888 }
#large { height: 700px } main { height: 3000px } #low { margin-left: 40px }
@media (max-width: 480px) { #large { height: 560px } }`

const picture =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 320" width="640" height="320"/>'

let site: Site
let pages: string
let film: Uint8Array<ArrayBuffer>
const late = Promise.withResolvers<void>()
const lateStyles = Promise.withResolvers<void>()

beforeAll(async () => {
  site = await Site.open(flows)
  const origin = site.server.url
  // Nothing inline, no other origin, no text that becomes HTML.
  const policy =
    `default-src 'none'; script-src ${origin}; connect-src ${origin}; style-src 'self'; ` +
    `img-src 'self' data:; media-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'`
  const files: Record<string, [string, string]> = {
    '/own.css': [css, 'text/css'],
    '/late.css': [css, 'text/css'],
    '/still.svg': [picture, 'image/svg+xml'],
    '/late.svg': [picture, 'image/svg+xml'],
    '/film.vtt': ['WEBVTT\n\n00:00.000 --> 00:09.000\nThis is a film.\n', 'text/vtt'],
  }
  pages = site.serve(async ({ pathname }) => {
    if (pathname === '/film.webm') {
      return new Response(film, { headers: { 'Content-Type': 'video/webm' } })
    }
    if (pathname === '/late.svg') await late.promise
    if (pathname === '/late.css') await lateStyles.promise
    const styled = pathname === '/unstyled' ? html.replace('own.css', 'late.css') : html
    const [text, type] = files[pathname] ?? [styled + site.tag(), 'text/html']
    return new Response(text, {
      headers: { 'Content-Type': type, 'Content-Security-Policy': policy },
    })
  })
})
afterAll(async () => {
  late.resolve()
  lateStyles.resolve()
  await site.close()
})

async function open(name: string, options = {}) {
  const visitor = await site.browser.page({ viewport: { width: 900, height: 600 }, ...options })
  // Does not wait until everything is loaded, because one picture waits for the test.
  const address = `${pages}/${name}`
  await visitor.page.goto(address, { waitUntil: 'domcontentloaded' })
  return { ...visitor, ...shown(visitor.page) }
}

/** Whether Cairn takes the mouse at a point of the page. */
const isCovered = (page: Page, x: number, y: number) =>
  page.evaluate(
    ([x, y]) => document.elementFromPoint(x!, y!)?.matches('[data-cairn]') ?? false,
    [x, y],
  )

const boxOf = async (page: Page, selector: string) => (await page.locator(selector).boundingBox())!

/** The hole in the veil, as its clip path has it. */
const holeOf = (page: Page) =>
  page.evaluate(() => {
    const veil = document.querySelector('[data-cairn]')?.shadowRoot?.querySelector('.veil')
    const path = /Z\s*M\s*([\d.-]+)[ ,]+([\d.-]+)\s*h\s*([\d.-]+)\s*a\s*([\d.-]+)/i.exec(
      (veil as HTMLElement | null)?.style.clipPath ?? '',
    )
    const [x = 0, y = 0, width = 0, radius = 0] = path?.slice(1).map(Number) ?? []
    return { x: x - radius, y, width: width + 2 * radius, radius }
  })

/** Waits until the light is around an element, some pixels wider on each side. */
const isLit = (page: Page, selector: string) =>
  until(async () => {
    const [hole, box] = [await holeOf(page), await boxOf(page, selector)]
    const isNear = (a: number, b: number) => Math.abs(a - b) < 1
    return (
      isNear(hole.x, box.x - 5) && isNear(hole.y, box.y - 5) && isNear(hole.width, box.width + 10)
    )
  })

describe('the light', () => {
  test('stays around its element through scrolling, another size and a move', async () => {
    const { page, says, noticed } = await open('light')
    await says('One')
    await isLit(page, '#low')
    await page.mouse.wheel(0, 120)
    await isLit(page, '#low')
    await page.setViewportSize({ width: 700, height: 500 })
    await isLit(page, '#low')
    await page.evaluate(() => {
      const low = document.querySelector('#low') as HTMLElement
      low.animate({ transform: ['none', 'translate(90px, 30px)'] }, { duration: 300, fill: 'both' })
    })
    await until(async () => (await boxOf(page, '#low')).x > 129)
    await isLit(page, '#low')
    expect(noticed.complaints).toEqual([])
  })

  test('moves to the next element and takes its corner radius; the page stays dim and usable, and does not shift', async () => {
    const { page, says, button } = await open('light')
    await says('One')
    await page.evaluate('scrollTo(0, 0)')
    const { x, y } = await boxOf(page, '#other')
    expect(await isCovered(page, x + 5, y + 5)).toBe(false)
    await isLit(page, '#low')
    await page.evaluate(`seen = [], moved = []
      const { shadowRoot } = document.querySelector('[data-cairn]')
      const look = () => {
        const count = selector => shadowRoot.querySelectorAll(selector).length
        seen.push(count('.veil') + ' ' + count('.card'))
        requestAnimationFrame(look)
      }
      look()
      new PerformanceObserver(list => moved.push(...list.getEntries().map(({ value }) => value)))
        .observe({ type: 'layout-shift', buffered: true })`)
    await button('Next').click()
    await says('Two')
    await isLit(page, '#round')
    expect((await holeOf(page)).radius).toBe(25)
    await button('Next').click()
    await says('Three')
    await isLit(page, '#low')
    expect(new Set((await page.evaluate('seen')) as string[])).toEqual(new Set(['1 1']))
    const moved = (await page.evaluate('moved')) as number[]
    // Smaller shifts are fractions of a pixel, which come from the browser's own rounding.
    expect(moved.filter(shift => shift > 0.0005)).toEqual([])
  })

  test('can be turned off by a theme, and on again by a step', async () => {
    const { page, says, card, button } = await open('themed')
    await says('One')
    await page.locator('[data-cairn] .ring').waitFor()
    expect(await page.locator('[data-cairn] .veil').count()).toBe(0)
    const bar = card.locator('.place .bar')
    expect(await bar.evaluate(one => getComputedStyle(one).getPropertyValue('--part'))).toBe('0.5')
    expect(await card.locator('.place').textContent()).toBe('1 of 2')
    await button('Next').click()
    await page.locator('[data-cairn] .veil.block').waitFor()
  })

  test('spares its element if it blocks, and a click on that leads on', async () => {
    const { page, says } = await open('held')
    await says('Press it')
    await isLit(page, '#high')
    const [other, high] = [await boxOf(page, '#other'), await boxOf(page, '#high')]
    expect(await isCovered(page, other.x + 5, other.y + 5)).toBe(true)
    expect(await isCovered(page, high.x + 5, high.y + 5)).toBe(false)
    await page.mouse.click(other.x + 5, other.y + 5)
    await page.locator('#high').click()
    await says('Pressed')
  })

  test('is left out if the visitor has work to do on the page', async () => {
    const { page, says } = await open('waits')
    await says('Do it')
    expect(await page.locator('[data-cairn] .veil').count()).toBe(0)
    await page.locator('[data-cairn] .ring').waitFor()
  })

  test('does not move if no motion is wanted', async () => {
    const { page, says, button } = await open('light', { reducedMotion: 'reduce' })
    await says('One')
    await button('Next').click()
    await says('Two')
    const moving = await page.evaluate(
      () => document.querySelector('[data-cairn]')!.shadowRoot!.getAnimations().length,
    )
    expect(moving).toBe(0)
  })
})

describe('a banner that the page makes room for', () => {
  test.each(['pushed', 'below'])(
    'is not printed, and leaves the page unchanged: %s',
    async name => {
      const { page, says, button, card } = await open(name)
      await page.waitForLoadState('load')
      const tags = () =>
        page.evaluate(() => {
          const header = document.querySelector('header')!
          return [document.documentElement, header].map(({ outerHTML }) => outerHTML.split('>')[0])
        })
      await says('News')
      expect(await tags()).not.toEqual(['<html lang="en"', '<header'])
      const isTop = name === 'pushed'
      const { height } = await boxOf(page, '[data-cairn] .card')
      const [header, other] = [await boxOf(page, 'header'), await boxOf(page, '#other')]
      expect(header.y).toBeCloseTo(isTop ? height : 0, 0)
      expect(other.y).toBeCloseTo(74 + (isTop ? height : 0), 0)
      const margin = await page.evaluate(
        isTop => getComputedStyle(document.documentElement)[isTop ? 'marginTop' : 'marginBottom'],
        isTop,
      )
      expect(Number.parseFloat(margin)).toBeCloseTo(height + (isTop ? 3 : 0), 0)
      const tops = () =>
        page.evaluate(() => {
          const { marginTop, marginBottom } = getComputedStyle(document.documentElement)
          const [header, other] = ['header', '#other'].map(
            one => document.querySelector(one)!.getBoundingClientRect().y,
          )
          return { marginTop, marginBottom, header, other }
        })
      const onScreen = await tops()
      await page.emulateMedia({ media: 'print' })
      await card.waitFor({ state: 'hidden' })
      await page.waitForFunction(() => !document.documentElement.hasAttribute('style'))
      expect(await tops()).toEqual({ marginTop: '3px', marginBottom: '0px', header: 0, other: 74 })
      await page.emulateMedia({ media: 'screen' })
      await card.waitFor()
      await until(tops, now => Bun.deepEquals(now, onScreen))
      // A browser fires beforeprint before it lays out the page, while the media type is still screen.
      await page.evaluate(() => dispatchEvent(new Event('beforeprint')))
      expect(await tops()).toEqual({ marginTop: '3px', marginBottom: '0px', header: 0, other: 74 })
      await page.evaluate(() => dispatchEvent(new Event('afterprint')))
      expect(await tops()).toEqual(onScreen)
      await button('Read').click()
      await card.waitFor({ state: 'detached' })
      expect(await tags()).toEqual(['<html lang="en"', '<header'])
      expect((await boxOf(page, '#other')).y).toBe(74)
    },
  )

  test('makes room for a header whose style sheet arrives after the banner', async () => {
    const { page, card } = await open('unstyled')
    await card.waitFor({ state: 'attached' })
    lateStyles.resolve()
    await page.waitForLoadState('load')
    const { height } = await boxOf(page, '[data-cairn] .card')
    expect((await boxOf(page, 'header')).y).toBeCloseTo(height, 0)
    const margin = await page.evaluate(() => getComputedStyle(document.documentElement).marginTop)
    expect(Number.parseFloat(margin)).toBeCloseTo(height + 3, 0)
  })
})

describe('a hint', () => {
  test('is shown while its dot has the keyboard focus; Escape hides it, and ends nothing', async () => {
    const { page, card } = await open('hint')
    const dot = page.locator('[data-cairn] .spot')
    const hint = page.getByRole('tooltip')
    await dot.focus()
    await hint.getByText('What it is.').waitFor()
    expect(await dot.getAttribute('aria-describedby')).toBe(await hint.getAttribute('id'))
    await page.keyboard.press('Escape')
    await hint.waitFor({ state: 'detached' })
    await dot.waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'A hint' }).waitFor()
    expect(await card.count()).toBe(1)
  })

  test('stays while the mouse is on it, and goes when the mouse does', async () => {
    const { page } = await open('hint', { clock: true })
    const dot = page.locator('[data-cairn] .spot')
    await dot.hover()
    const hint = page.getByRole('tooltip')
    await hint.waitFor()
    await hint.hover()
    // Longer than it lingers once the mouse has left.
    await pass(page, 1_000)
    expect(await hint.count()).toBe(1)
    await page.mouse.move(700, 500)
    await hint.waitFor({ state: 'detached' })
    await dot.waitFor()
  })
})

describe('a card', () => {
  test('has the button that leads on last, and counts many steps in words', async () => {
    const { says, card } = await open('order')
    await says('Which')
    const buttons = card.locator('.button')
    expect(await buttons.allTextContents()).toEqual(['Not now', 'Help', 'On'])
    expect(await buttons.last().getAttribute('part')).toBe('button primary')
    expect(await card.locator('.place').textContent()).toBe('1 of 9')
    expect(await card.locator('.dots').count()).toBe(0)
    const heights = await buttons.evaluateAll(all =>
      all.map(one => (one as HTMLElement).offsetHeight),
    )
    expect(Math.min(...heights)).toBeGreaterThanOrEqual(36)
  })

  test('in a corner neither takes the keyboard focus nor keeps it', async () => {
    const { page, says, button } = await open('corner')
    await says('By the way')
    expect(await page.evaluate(() => document.activeElement?.localName)).toBe('body')
    await button('Close').focus()
    await page.keyboard.press('Tab')
    expect(await page.evaluate(() => document.activeElement?.hasAttribute('data-cairn'))).toBe(
      false,
    )
  })

  test('beside an element near a corner has the room there is', async () => {
    const { says, card } = await open('long', { reducedMotion: 'reduce' })
    await says('Long')
    const hidden = await card
      .locator('.inner')
      .evaluate(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight)
    expect(hidden).toBe(0)
  })

  test('on a phone is a sheet at an edge, if it would cover its element otherwise', async () => {
    const { says, card } = await open('large', { viewport: { width: 375, height: 667 } })
    await says('A large one')
    await until(async () => {
      const box = await card.boundingBox()
      const isInSight = box !== null && box.y >= 8 && box.y + box.height <= 667 - 7
      return isInSight && box.x === 8 && box.width === 359
    })
  })
})

/** A very short film, recorded by the browser. */
const made = (page: Page) =>
  page.evaluate(async () => {
    const canvas = Object.assign(document.createElement('canvas'), { width: 160, height: 90 })
    const context = canvas.getContext('2d')!
    const recorder = new MediaRecorder(canvas.captureStream(30), { mimeType: 'video/webm' })
    const parts: Blob[] = []
    recorder.ondataavailable = ({ data }) => parts.push(data)
    const stopped = new Promise(resolve => {
      recorder.onstop = resolve
    })
    recorder.start()
    for (let i = 0; i < 20; i++) {
      context.fillStyle = `hsl(${i * 18} 80% 50%)`
      context.fillRect(0, 0, 160, 90)
      await new Promise(resolve => requestAnimationFrame(resolve))
    }
    recorder.stop()
    await stopped
    return [...new Uint8Array(await new Blob(parts).arrayBuffer())]
  })

describe('above the text', () => {
  test('a video plays with its captions when it is asked to, and not before', async () => {
    const studio = await site.browser.page()
    film = new Uint8Array(await made(studio.page))
    await studio.page.context().close()
    const { page, says, noticed } = await open('film')
    await says('A film')
    const video = page.locator('[data-cairn] video')
    await video.waitFor()
    expect(await video.getAttribute('aria-label')).toBe('How it works')
    const state = () =>
      video.evaluate(element => {
        const { paused, autoplay, controls, textTracks, currentTime } = element as HTMLVideoElement
        const captions = textTracks[0]?.cues?.length ?? 0
        return { paused, autoplay, controls, captions, hasPlayed: currentTime > 0 }
      })
    expect(await state()).toMatchObject({ paused: true, autoplay: false, controls: true })
    const { width, height } = (await video.boundingBox())!
    expect(width / height).toBeCloseTo(160 / 90, 1)
    await video.evaluate(element => (element as HTMLVideoElement).play())
    await until(async () => {
      const { captions, hasPlayed } = await state()
      return captions === 1 && hasPlayed
    })
    expect(noticed.complaints).toEqual([])
  })

  test('an image that loads late has its room reserved', async () => {
    const { says, card } = await open('picture', { reducedMotion: 'reduce' })
    await says('A picture')
    const before = await card.boundingBox()
    late.resolve()
    const image = card.locator('.media img')
    await until(() => image.evaluate(one => (one as HTMLImageElement).naturalWidth > 0))
    expect(await card.boundingBox()).toEqual(before)
    expect(await image.getAttribute('alt')).toBe('A board')
  })

  test('a window with an image is as wide as others, and what leads on stands in one row', async () => {
    const { page, says, card } = await open('window', { reducedMotion: 'reduce' })
    await says('Welcome')
    expect((await card.boundingBox())!.width).toBe(468)
    const middles = await card
      .locator('.dots, .foot button')
      .evaluateAll(all =>
        all.map(one => one.getBoundingClientRect()).map(({ top, bottom }) => (top + bottom) / 2),
      )
    expect(middles).toHaveLength(3)
    expect(Math.max(...middles) - Math.min(...middles)).toBeLessThan(1)
    // In a low window the image is cut rather than narrowed.
    await page.setViewportSize({ width: 640, height: 320 })
    await page.waitForFunction(() => innerHeight === 320)
    const { width, height } = (await card.locator('.media').boundingBox())!
    expect(width).toBe(466)
    expect(height).toBeLessThan(100)
  })

  test('an image that cannot be loaded leaves its text, or nothing', async () => {
    const { says, card } = await open('lost', { reducedMotion: 'reduce' })
    await says('Lost')
    await card.getByText('A board', { exact: true }).waitFor()
    expect(await card.locator('.media').count()).toBe(0)
    await card.getByRole('button', { name: 'On' }).click()
    await says('Lost too')
    await card.locator('.media').waitFor({ state: 'detached' })
    const { title, inner } = await card.evaluate(one => {
      const [title, inner] = ['h2', '.inner'].map(what => one.querySelector(what)!)
      return {
        title: title!.getBoundingClientRect().top,
        inner: inner!.getBoundingClientRect().top,
      }
    })
    expect(title - inner).toBe(28)
  })
})
