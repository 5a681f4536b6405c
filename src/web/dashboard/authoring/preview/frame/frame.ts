import { byLanguage } from '../../../../snippet/stage/words.ts'
import type { FromFrame, Look, ToFrame } from '../messages.ts'
import { leaveKeyboardAlone } from './keyboard.ts'
import { createMockPage } from './mock-page.ts'
import { createPlayer } from './player.ts'
import { holdLinks, visitorPage } from './visitor-page.ts'

/**
 * The document in the preview's frame: a page of grey blocks with the snippet's own stage on it. It is
 * sandboxed, so it has an origin of its own: no cookies, no storage, and no access to the API.
 */

/** The dashboard's own origin, because no other page may have this one in a frame. */
const { origin } = location

const tell = (message: FromFrame) => parent.postMessage(message, origin)
const followed = (href: string) => tell({ type: 'link', href })

leaveKeyboardAlone()
holdLinks(followed)
// If a step goes on and also leads elsewhere, the new step is reported first.
const later = (href: string) => setTimeout(() => followed(href))
const player = createPlayer(visitorPage(later), createMockPage(), tell)

function look({ isDark, direction, language }: Look): void {
  const { documentElement } = document
  documentElement.classList.toggle('dark', isDark)
  documentElement.dir = direction
  documentElement.lang = language
  player.redraw()
}

addEventListener('message', ({ source, origin: from, data }: MessageEvent<ToFrame>) => {
  if (source !== parent || from !== origin) return
  if (data.type === 'look') look(data.look)
  else if (data.type === 'show') player.show(data.flow, data.part, data.theme)
  else if (data.type === 'again') player.again()
  else player.track(data.name)
})

// At the width of a phone, a step may be placed differently, and a checklist may fill the page.
let width = innerWidth
addEventListener('resize', () => {
  if (innerWidth === width) return
  width = innerWidth
  player.redraw()
})

tell({ type: 'ready', languages: Object.keys(byLanguage) })
