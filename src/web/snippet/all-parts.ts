import * as inspection from './inspection/inspection.ts'
import * as highlight from './stage/highlight.ts'
import * as launcher from './stage/launcher.ts'
import * as question from './stage/question.ts'
import * as video from './stage/video.ts'
import type { LoadPart, StageParts } from './stage-parts.ts'

const parts: StageParts = { highlight, inspection, launcher, question, video }

/** For bundles that are one file and load no other: the parts are there already. */
export const ownPart: LoadPart = async name => parts[name]
