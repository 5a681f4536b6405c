import { directStage } from './stage/directing.ts'
import { createTeller } from './stage/headless-drawer.ts'
import type { Stage, StageDeps } from './stage.ts'

export { partFiles } from './part-files.ts'

/** Loaded in the renderer's place if the page draws with components of its own. */
export const createStage = (deps: StageDeps): Stage => directStage(deps, createTeller(deps))
