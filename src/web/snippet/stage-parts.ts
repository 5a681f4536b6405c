/** Parts of the stage that few flows need, by name. Each is a file of its own, loaded when it is needed. */
export interface StageParts {
  question: typeof import('./stage/question.ts')
  /** Explains flows, when the page asks for that. */
  inspection: typeof import('./inspection/inspection.ts')
  video: typeof import('./stage/video.ts')
  highlight: typeof import('./stage/highlight.ts')
  launcher: typeof import('./stage/launcher.ts')
}

/**
 * Loads a part, once for all callers. Rejects if it could not be loaded; another call retries. Steps call
 * `StepView.part`, which does that.
 */
export type LoadPart = <Name extends keyof StageParts>(name: Name) => Promise<StageParts[Name]>
