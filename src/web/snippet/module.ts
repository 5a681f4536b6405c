import type { Cairn, Settings } from './api.ts'
import { createCairn } from './create.ts'
import { createStage } from './renderer.ts'

export type { Cairn, Settings, Told } from './api.ts'

/**
 * The snippet for a bundler, and for the content script of a browser extension: it asks for no global
 * of the page, and loads no further script.
 */
export function cairn(settings: Settings): Cairn {
  return createCairn(settings, async () => createStage, window)
}
