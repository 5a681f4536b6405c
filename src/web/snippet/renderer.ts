import { directStage } from './stage/directing.ts'
import { createDrawer } from './stage/drawer.ts'
import type { Stage, StageDeps } from './stage.ts'

export { partFiles } from './part-files.ts'

/** The part that is loaded when the first flow is due. */
export const createStage = (deps: StageDeps): Stage =>
  directStage(deps, createDrawer(deps, deps.feed.theme))
