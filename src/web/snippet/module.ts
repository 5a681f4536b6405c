import { ownPart } from './all-parts.ts'
import type { Cairn, Settings } from './api.ts'
import { createCairn } from './create.ts'
import { createStage as createHeadlessStage } from './headless.ts'
import { createStage } from './renderer.ts'
import type { StageDeps } from './stage.ts'
import { createTiming } from './timing.ts'
import { warn } from './warn.ts'

export type * from './api.ts'

const stageBy = (create: typeof createStage) => async () => (deps: Omit<StageDeps, 'loadPart'>) =>
  create({ ...deps, loadPart: ownPart })

/**
 * The snippet for a bundler, and for the content script of a browser extension: it asks for no global
 * of the page, and loads no further script.
 */
export function cairn(settings: Settings): Cairn {
  if (typeof window === 'undefined' || !window.document) return elsewhere()
  const loads = {
    loadStage: stageBy(settings.headless ? createHeadlessStage : createStage),
    loadPart: ownPart,
    loadTiming: async () => createTiming,
  }
  return createCairn(settings, loads, window)
}

/** Where there is no page, as in server-side rendering: every call does nothing. */
function elsewhere(): Cairn {
  warn('there is no page here, so it does nothing: it begins in the browser')
  const nothing = () => {}
  return {
    identify: async () => 'alone',
    group: nothing,
    track: nothing,
    start: nothing,
    stop: nothing,
    highlight: async () => false,
    reset: async () => 'alone' as const,
    isActive: () => false,
    progress: () => null,
    flows: async () => [],
    why: async () => null,
    debug: nothing,
    on: () => nothing,
    consent: nothing,
  }
}
