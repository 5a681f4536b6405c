import * as bun from 'bun:test'
import { expect, setDefaultTimeout } from 'bun:test'
import { Firefox, firefoxProgram } from '../support/firefox.ts'
import { type Look, looks, pictureNames, serveGallery, viewportOf } from '../support/gallery.ts'
import { sizes, wrong } from '../web/small-window-cases.ts'
import { serveStage } from '../web/stage.ts'
import { judgesVisibility } from '../web/visibility-cases.ts'

/** What the snippet draws in Firefox. */

setDefaultTimeout(300_000)

const test = firefoxProgram ? bun.test : bun.test.skip

let firefox: Firefox
let gallery: ReturnType<typeof serveGallery>
let stage: Awaited<ReturnType<typeof serveStage>>
if (firefoxProgram) {
  bun.beforeAll(async () => {
    gallery = serveGallery()
    stage = await serveStage()
    firefox = await Firefox.open()
  })
  bun.afterAll(async () => {
    await firefox.close()
    gallery.stop()
    stage.stop()
  })
}

/** Resolves with the positions of a picture's parts, once it is drawn and its animations have ended. */
const drawnParts = `new Promise(resolve => {
  const look = async () => {
    const root = document.documentElement.dataset.drawn && document.querySelector('[data-cairn]').shadowRoot
    if (!root) return requestAnimationFrame(look)
    const ends = root.getAnimations().filter(one => one.effect.getTiming().iterations !== Infinity)
    await Promise.allSettled(ends.map(one => one.finished))
    const box = selector => {
      const found = root.querySelector(selector)?.getBoundingClientRect()
      return found ? { left: found.left, top: found.top, right: found.right, bottom: found.bottom } : null
    }
    resolve({
      card: box('.card') ?? box('.launcher') ?? box('.spot'),
      ring: box('.ring'),
      width: innerWidth,
      height: innerHeight,
      fonts: getComputedStyle(root.querySelector('.root')).fontFamily,
      overflow: document.documentElement.scrollWidth - innerWidth,
    })
  }
  look()
})`

interface Box {
  left: number
  top: number
  right: number
  bottom: number
}

interface Parts {
  card: Box
  ring: Box | null
  width: number
  height: number
  overflow: number
}

for (const [how, query] of Object.entries(looks)) {
  bun.describe(how, () => {
    for (const name of pictureNames) {
      test(`${name} is drawn within the window, beside its element`, async () => {
        const size = viewportOf(how as Look)
        await firefox.goto(`${gallery.origin}/gallery/${name}?${query}`, size)
        const { card, ring, width, height, overflow } = await firefox.evaluate<Parts>(drawnParts)
        expect(card.left).toBeGreaterThanOrEqual(0)
        expect(card.top).toBeGreaterThanOrEqual(0)
        expect(card.right).toBeLessThanOrEqual(width)
        expect(card.bottom).toBeLessThanOrEqual(height)
        expect(card.right - card.left).toBeGreaterThan(20)
        expect(overflow).toBeLessThanOrEqual(0)
        if (!ring) return
        const isBeside =
          card.left >= ring.right ||
          card.right <= ring.left ||
          card.top >= ring.bottom ||
          card.bottom <= ring.top
        expect(isBeside).toBe(true)
      })
    }
  })
}

test('elements that people can see or scroll to are distinguished from hidden ones', async () => {
  await firefox.goto(stage.url, { width: 1000, height: 700 })
  await judgesVisibility(expression => firefox.evaluate(expression))
})

test('in a small window every step shows its title, some of its text and its buttons', async () => {
  for (const size of sizes) {
    await firefox.goto(stage.url, size)
    expect([size, await firefox.evaluate<string[]>(wrong)]).toEqual([size, []])
  }
})
