import type { Cairn, Settings } from './api.ts'
import { createCairn } from './create.ts'
import { createStage } from './renderer.ts'
import { warn } from './warn.ts'

export type { Cairn, Settings, Told } from './api.ts'

/**
 * The snippet for a bundler, and for the content script of a browser extension: it asks for no global
 * of the page, and loads no further script.
 */
export function cairn(settings: Settings): Cairn {
  if (typeof window === 'undefined' || !window.document) return elsewhere()
  return createCairn(settings, async () => createStage, window)
}

/** Where no page is, as where a server draws one: whatever is called does nothing. */
function elsewhere(): Cairn {
  warn('there is no page here, so it does nothing: it begins in the browser')
  const nothing = () => {}
  return {
    identify: nothing,
    track: nothing,
    start: nothing,
    stop: nothing,
    reset: nothing,
    on: () => nothing,
    consent: nothing,
  }
}
