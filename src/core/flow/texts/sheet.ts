import type { FlowDefinition } from '../flow.ts'
import { type TextUnit, textUnits, translationOf } from './units.ts'

/** What translators receive and return: the texts of one flow in one language. */
export interface TextSheet {
  /** The key of the flow; null if the file does not say. */
  flow: string | null
  /** The language that the flow is written in; null if the file does not say. */
  from: string | null
  /** The language of the translations; null if the file does not say. */
  to: string | null
  entries: SheetEntry[]
}

export interface SheetEntry {
  id: string
  /** The flow's text when the file was made; null if the file does not say. */
  source: string | null
  /** Null if it is not translated. */
  target: string | null
  /** For translators. */
  note?: string
}

const noteOf = ({ means, isMarkdown }: TextUnit) =>
  isMarkdown ? `${means}. Markdown: keep **, [text](link) and the like.` : means

/** A flow's texts for translators. The flow has to say which language it is written in. */
export function sheetOf(flow: FlowDefinition, to: string): TextSheet {
  const texts = flow.texts?.[to]
  const entries = textUnits(flow).map(unit => ({
    id: unit.id,
    source: unit.source,
    target: to === flow.locale ? unit.source : translationOf(texts, unit),
    note: noteOf(unit),
  }))
  return { flow: flow.key, from: flow.locale ?? null, to, entries }
}

/** The formats of files for translators; `xliff` is version 2.0. */
export const sheetFormats = ['xliff', 'json'] as const
export type SheetFormat = (typeof sheetFormats)[number]

/** Why a file cannot be read, in one sentence. */
export class SheetProblem extends Error {}

/** In characters. No file for translators needs more. */
export const maxSheetLength = 4_194_304
/** More than any flow has. */
export const maxEntries = 10_000
