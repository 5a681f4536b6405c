import type { Flow } from '../../../../core/flow/flow.ts'
import type { DraftAnswer } from '../../../../modules/authoring/schema.ts'
import { ask } from '../../api/request.ts'
import { flowPath } from '../../flows/definition.ts'
import type { Written } from './merge.ts'
import type { Base } from './unsaved.ts'

/** A flow as its author writes it: without the fields that the server adds. */
export function writtenOf({
  id: _,
  version: __,
  publishedAt: ___,
  steps,
  checklist,
  ...rest
}: Flow): Written {
  const written = <P extends { id: string; position: number }>(parts: readonly P[]) =>
    parts.map(({ id: _, position: __, ...part }) => part)
  return {
    ...rest,
    steps: written(steps),
    checklist: checklist && { ...checklist, items: written(checklist.items) },
  }
}

/** What the author begins with, taken from an answer. */
export const baseOf = ({ etag, text, definition }: DraftAnswer): Base => ({
  etag,
  text: text ?? '',
  definition,
})

/** Reads what was last written of a flow. @throws Failure */
export const readBase = async (key: string): Promise<Base> =>
  baseOf((await ask<DraftAnswer>(flowPath(key, '/draft?text=1'))).value!)
