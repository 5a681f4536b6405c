import type { FlowDefinition } from '../flow.ts'
import { type TextUnit, textUnits, translationOf } from './units.ts'

/** What translators are given, and give back: the texts of one flow in one language. */
export interface TextSheet {
  /** The key of the flow; null where the file does not say it. */
  flow: string | null
  /** The language that the flow is written in; null likewise. */
  from: string | null
  /** The language of the translations; null likewise. */
  to: string | null
  entries: SheetEntry[]
}

export interface SheetEntry {
  id: string
  /** What the flow said when the file was made; null where the file does not say it. */
  source: string | null
  /** Null where it is not translated. */
  target: string | null
  /** For translators. */
  note?: string
}

const noteOf = ({ means, isMarkdown }: TextUnit) =>
  isMarkdown ? `${means}. Markdown: keep **, [text](link) and the like.` : means

/** A flow's texts as translators get them. The flow has to say in which language it is written. */
export function sheetOf(flow: FlowDefinition, to: string): TextSheet {
  const told = flow.texts?.[to]
  const entries = textUnits(flow).map(unit => ({
    id: unit.id,
    source: unit.source,
    target: to === flow.locale ? unit.source : translationOf(told, unit),
    note: noteOf(unit),
  }))
  return { flow: flow.key, from: flow.locale ?? null, to, entries }
}

/** The formats of files for translators; `xliff` is version 2.0. */
export const sheetFormats = ['xliff', 'xliff-1.2', 'json'] as const
export type SheetFormat = (typeof sheetFormats)[number]

/** What keeps a file from being read, in one sentence. */
export class SheetFault extends Error {}

/** No file for translators needs more, in characters. */
export const longestSheet = 4_194_304
/** More than any flow has. */
export const mostEntries = 10_000
