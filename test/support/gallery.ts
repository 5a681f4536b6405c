import type { Page } from '../browser/playwright.ts'
import { galleryAt, pictures } from '../web/gallery/pages.ts'
import { still } from './browser.ts'

/** The gallery, as tests and scripts look at it. */

/** The looks in which each picture is judged. */
export const looks = {
  light: '',
  dark: 'ground=dark',
  phone: 'width=phone',
  rtl: 'direction=rtl',
} as const
export type Look = keyof typeof looks

export const pictureNames = [...pictures.keys()]

/** One picture for each kind of step, question and list. */
export const kinds = [
  ...['tooltip-image', 'modal', 'slideout', 'banner', 'hotspot-open', 'hint', 'elsewhere'],
  ...[
    'question-score',
    'question-stars',
    'question-choice',
    'question-text',
    'checklist',
    'launcher',
  ],
]

/** The pictures that are compared pixel by pixel. */
export const comparedPictures: readonly (readonly [name: string, look: Look])[] = [
  ...[...kinds, 'launcher-closed'].flatMap(kind => [
    ...[[kind, 'light'] as const, [kind, 'dark'] as const],
  ]),
  ['question-score', 'phone'],
  ['tooltip-image', 'rtl'],
  ['launcher-icon', 'light'],
  ['launcher-own', 'light'],
  ['launcher', 'phone'],
  ['launcher-closed', 'phone'],
  ['launcher', 'rtl'],
]

/** The day of all pictures, because a launcher shows dates, with a year once they are long ago. */
const shownAt = Date.parse('2026-11-27T12:00:00.000Z')

/** As large as the gallery shows them, CSS pixels. */
export const viewportOf = (look: Look) =>
  look === 'phone' ? { width: 360, height: 640 } : { width: 560, height: 420 }

/** Serves the gallery's pages, without a Cairn server beside them. */
export function serveGallery(port = 0) {
  const server = Bun.serve({
    port,
    hostname: '127.0.0.1',
    fetch(request) {
      const found = galleryAt(new URL(request.url))
      if (!found) return new Response(null, { status: 404 })
      return new Response(found[1], { headers: { 'Content-Type': `${found[0]}; charset=utf-8` } })
    },
  })
  return { origin: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) }
}

/** Goes to a picture, and waits until it is drawn and has come to rest. */
export async function look(page: Page, origin: string, name: string, how: string): Promise<void> {
  await page.clock.setFixedTime(shownAt)
  await page.goto(`${origin}/gallery/${name}?${how}`)
  await page.locator(`html[data-drawn="${name}"]`).waitFor()
  await still(page)
}
