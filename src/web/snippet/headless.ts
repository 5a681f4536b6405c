import { directStage } from './stage/directing.ts'
import { createTeller } from './stage/headless-drawer.ts'
import type { Stage, StageDeps } from './stage.ts'

export { partFiles } from './part-files.ts'

/** What is loaded in the renderer's place where the page draws with components of its own. */
export const createStage = (deps: StageDeps): Stage => directStage(deps, createTeller(deps))
