import type { StageParts } from './stage-parts.ts'

declare const CAIRN_SNIPPET_AUTHOR: string
declare const CAIRN_SNIPPET_AUTHOR_INTEGRITY: string
declare const CAIRN_SNIPPET_PREVIEW: string
declare const CAIRN_SNIPPET_PREVIEW_INTEGRITY: string
declare const CAIRN_SNIPPET_QUESTION: string
declare const CAIRN_SNIPPET_QUESTION_INTEGRITY: string
declare const CAIRN_SNIPPET_INSPECTION: string
declare const CAIRN_SNIPPET_INSPECTION_INTEGRITY: string
declare const CAIRN_SNIPPET_HIGHLIGHT: string
declare const CAIRN_SNIPPET_HIGHLIGHT_INTEGRITY: string
declare const CAIRN_SNIPPET_LAUNCHER: string
declare const CAIRN_SNIPPET_LAUNCHER_INTEGRITY: string
declare const CAIRN_SNIPPET_VIDEO: string
declare const CAIRN_SNIPPET_VIDEO_INTEGRITY: string

/** What a page loads in addition to the stage's parts, if somebody works on a flow. */
export interface PageParts extends StageParts {
  author: typeof import('../author/author.ts')
  preview: typeof import('../preview/preview.ts')
}

/** The parts' files and their hashes. The renderer has them, so that not every page has to load them. */
export const partFiles: Readonly<Record<keyof PageParts, readonly [file: string, hash: string]>> = {
  author: [CAIRN_SNIPPET_AUTHOR, CAIRN_SNIPPET_AUTHOR_INTEGRITY],
  preview: [CAIRN_SNIPPET_PREVIEW, CAIRN_SNIPPET_PREVIEW_INTEGRITY],
  question: [CAIRN_SNIPPET_QUESTION, CAIRN_SNIPPET_QUESTION_INTEGRITY],
  inspection: [CAIRN_SNIPPET_INSPECTION, CAIRN_SNIPPET_INSPECTION_INTEGRITY],
  highlight: [CAIRN_SNIPPET_HIGHLIGHT, CAIRN_SNIPPET_HIGHLIGHT_INTEGRITY],
  launcher: [CAIRN_SNIPPET_LAUNCHER, CAIRN_SNIPPET_LAUNCHER_INTEGRITY],
  video: [CAIRN_SNIPPET_VIDEO, CAIRN_SNIPPET_VIDEO_INTEGRITY],
}
