/** Parts of the stage that few flows need, by name: files of their own, each loaded when it is needed. */
export interface StageParts {
  question: typeof import('./stage/question.ts')
  /** What explains flows, which the page asks for. */
  inspection: typeof import('./inspection/inspection.ts')
  video: typeof import('./stage/video.ts')
}

/**
 * Loads a part, once for all who ask. Rejects where it could not be loaded; asked again, it is tried
 * again. Steps ask by `StepView.part`, which does so.
 */
export type LoadPart = <Name extends keyof StageParts>(name: Name) => Promise<StageParts[Name]>
