import { expect } from 'bun:test'
import { until } from '../../scripts/support/until.ts'
import { type Page, TestBrowser } from '../support/browser.ts'
import { afterAll, beforeAll, describe, test } from '../support/in-browser.ts'
import { openStage, play, serveStage, shows } from './stage.ts'

/** How the page is scrolled for a step, and when it is not. */

const space = '<div style="height:1500px"></div>'
const small = '<button id=in>In</button>'
const tall = '<div id=in style="height:1200px">Tall</div>'
const box = (style: string, content: string, more = '') =>
  `<div class=box style="overflow:auto;${style}" ${more}>${content}</div>`

/**
 * Where the element is then: in the `middle` of the window, with its `start` right below a place, or where it
 * was, because nothing was scrolled. Then how far the boxes of the page are scrolled, if that is not told by it.
 */
const cases: Record<string, [html: string, at: 'middle' | 'still' | number, boxes?: number[]]> = {
  'out of the window': [space + small + space, 'middle'],
  'in the window': [small + space, 'still'],
  'higher than the window': [space + tall + space, 0],
  'higher than the window, its start in view': [`<h1>App</h1>${tall}${space}`, 'still'],
  'in boxes in boxes': [
    space + box('height:300px', space + box('height:150px', space + small + space) + space) + space,
    'middle',
  ],
  'cut off by what must not scroll': [
    `${box('height:100px;overflow:hidden', `<div style="height:85px"></div>${small}<div style="height:500px"></div>`)}${space}`,
    'still',
    [0],
  ],
  'cut off by it, in a box that scrolls': [
    box(
      'height:300px',
      `${space}${box('height:100px;overflow:clip', `<div style="height:85px"></div>${small}${space}`)}${space}`,
    ),
    8,
    [1, 0],
  ],
  'on a page that must not scroll': [
    `<style>body{overflow:hidden}</style>${space}${small}`,
    'still',
  ],
  'to the right in a box': [
    box(
      'width:300px',
      '<p style="width:2000px"><button id=in style="margin-left:1500px">In</button></p>',
    ),
    'still',
    [1],
  ],
  'to the left in a box': [
    box(
      'width:300px',
      '<p style="width:2000px"><button id=in style="margin-right:1500px">In</button></p>',
      'dir=rtl',
    ),
    'still',
    [-1],
  ],
  'under a header that stays': [
    `<header style="position:fixed;inset:0 0 auto;height:90px"></header>${space}${tall}${space}`,
    90,
  ],
  'under a header that floats': [
    `<header style="position:fixed;inset:16px 16px auto;height:60px"></header>${space}${tall}${space}`,
    76,
  ],
  'under the header of its box': [
    box(
      'height:300px',
      `<header style="position:sticky;top:0;height:60px"></header>${space}${tall}${space}`,
    ),
    68,
  ],
  'behind a bar at the lower edge': [
    `<footer style="position:fixed;inset:auto 0 0;height:200px"></footer><div style="height:560px"></div>${small}${space}`,
    235,
  ],
  'in a page with room for its header': [
    `<style>html{scroll-padding-top:150px}</style>${space}${tall}${space}`,
    150,
  ],
  'with a margin of its own': [
    space + tall.replace('style="', 'style="scroll-margin-top:100px;') + space,
    100,
  ],
  'in a page that snaps': [
    `<style>html{scroll-snap-type:y mandatory}section{height:100vh;scroll-snap-align:start}</style>
     <section></section><section></section><section>${small}</section><section></section>`,
    0,
  ],
  'in a box that is drawn smaller': [
    box('height:600px;transform:scale(.5);transform-origin:0 0', space + small + space),
    8,
    [1],
  ],
  'in a panel that stays': [
    `${box('position:fixed;top:50px;left:0;width:200px;height:200px', space + small + space)}${space}`,
    50,
    [1],
  ],
  'in a box that begins at its end': [
    box(
      'display:flex;flex-direction:column-reverse;height:200px',
      '<div style="flex:none;height:1600px"></div><button id=in style="flex:none">In</button>',
    ),
    8,
    [-1],
  ],
  'slotted into a box': [
    `<div data-shadow="<div style='height:300px;overflow:auto'><slot></slot></div>"><div>${space}${small}${space}</div></div>`,
    8,
  ],
  'in a page that scrolls smoothly': [
    `<style>html{scroll-behavior:smooth}</style>${space}${small}${space}`,
    'middle',
  ],
}

const tip = '[{ key: a, title: One, target: { selector: "#in" } }]'

/** The distance of the element's upper edge from the window's, and how far the window and its boxes are scrolled. */
const places = (page: Page) =>
  page.evaluate(() => {
    const { top, height } = document.getElementById('in')!.getBoundingClientRect()
    const boxes = [...document.querySelectorAll('.box')]
    const scrolled = boxes.map(({ scrollLeft, scrollTop }) => Math.sign(scrollLeft || scrollTop))
    return { top, middle: top + height / 2, window: scrollY, boxes: scrolled }
  })

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

const viewport = { width: 1000, height: 700 }
const open = (options = {}) => openStage(browser, stage.url, { viewport, ...options })

test('an element is scrolled into view by what visitors can scroll, and by nothing else', async () => {
  const page = await open({ reducedMotion: 'reduce' })
  const wrong: unknown[] = []
  for (const [name, [html, at, boxes]] of Object.entries(cases)) {
    await play(page, html, tip)
    await shows(page, 'One')
    const found = await places(page)
    const isThere =
      at === 'still'
        ? found.window === 0
        : at === 'middle'
          ? Math.abs(found.middle - 350) < 2
          : found.top >= at && found.top < at + 20
    const areThere = !boxes || String(boxes) === String(found.boxes)
    if (!isThere || !areThere) wrong.push([name, found])
    // Otherwise a page that scrolls smoothly would still be on its way.
    await page.evaluate('clear(), fill("")')
  }
  expect(wrong).toEqual([])
})

describe('a step that is shown', () => {
  const orders = (id: string) =>
    `<ol id=${id}>${Array.from({ length: 120 }, (_, i) => `<li>Order ${i}`).join('')}</ol>`
  const push = (px: number) => `document.getElementById('late').style.height = '${px}px'`
  const html = `<h1>App</h1><div id=late></div><div style="height:100px"></div>${small}${space}`

  test('moves with its element, which is brought back once when late content takes it away', async () => {
    const page = await open({ clock: true, reducedMotion: 'reduce' })
    await play(page, html, tip)
    await shows(page, 'One')
    const late = async (px: number) => {
      await page.clock.runFor(1_000)
      await page.evaluate(push(px))
      await page.clock.runFor(1_000)
      return places(page)
    }
    expect((await late(200)).window).toBe(0)
    const back = await late(1_400)
    expect(Math.abs(back.middle - 350)).toBeLessThan(2)
    expect((await late(3_000)).window).toBe(back.window)
  })

  test('is not scrolled once the visitor has scrolled, nor when it is drawn anew or has another size', async () => {
    const page = await open({ clock: true, reducedMotion: 'reduce' })
    // Otherwise the browser itself scrolls when something above what is read grows.
    const anchored = '<style>html{overflow-anchor:none}</style>'
    await play(page, `${anchored}<h1>App</h1><div id=late></div>${orders('in')}`, tip)
    await shows(page, 'One')
    await page.clock.runFor(1_000)
    await page.mouse.move(500, 600)
    await page.mouse.wheel(0, 900)
    const at = () => page.evaluate('scrollY') as Promise<number>
    await until(at, y => y === 900)
    for (const change of [
      `document.getElementById('in').outerHTML = ${JSON.stringify(orders('in'))}`,
      `document.getElementById('in').style.width = '300px'`,
      push(3_000),
    ]) {
      await page.evaluate(change)
      await page.clock.runFor(1_500)
      await shows(page, 'One')
    }
    expect(await at()).toBe(900)
  })

  test('scrolls smoothly, unless the visitor wants no motion', async () => {
    const page = await open()
    await page.evaluate(() => {
      const seen: number[] = []
      addEventListener('scroll', () => seen.push(scrollY))
      Object.assign(window, { seen })
    })
    await play(page, space + small + space, tip)
    await shows(page, 'One')
    const { window: end } = await until(
      () => places(page),
      ({ middle }) => Math.abs(middle - 350) < 2,
    )
    const seen = (await page.evaluate('seen')) as number[]
    expect(seen.some(y => y > 0 && y < end - 2)).toBe(true)
  })
})
