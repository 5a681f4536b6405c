import type { DraftAnswer } from '../../../../modules/authoring/schema.ts'
import { ask } from '../../api/request.ts'
import { flowPath } from '../../flows/definition.ts'
import type { Base } from './unsaved.ts'

/** What the author begins with, taken from an answer. */
export const baseOf = ({ etag, text, definition }: DraftAnswer): Base => ({
  etag,
  text: text ?? '',
  definition,
})

/** Reads what was last written of a flow. @throws Failure */
export const readBase = async (key: string): Promise<Base> =>
  baseOf((await ask<DraftAnswer>(flowPath(key, '/draft?text=1'))).value!)
