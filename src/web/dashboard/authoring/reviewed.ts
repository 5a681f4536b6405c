import type { DraftAnswer } from '../../../modules/authoring/schema.ts'
import { useOnce } from '../api/once.ts'
import { ask } from '../api/request.ts'
import { flowPath } from '../flows/definition.ts'
import type { DiffAnswer } from './difference.tsx'

/** What a person reviews before a change. */
export interface Reviewed {
  /** The ETag of the draft that the difference shows, or of an older draft: then the change is refused. */
  etag: string
  draft: DraftAnswer
  /** Null if there is nothing to compare with. */
  difference: DiffAnswer | null
}

/**
 * Reads what a person has to review before a flow is changed: its draft, and what would change. The
 * draft is read first, so that its ETag is never newer than what is shown.
 *
 * @param query of the difference; null if there is none
 */
export function useReviewed(key: string, query: Record<string, string> | null) {
  const search = query && `${new URLSearchParams(query)}`
  return useOnce(`${key} ${search}`, async (): Promise<Reviewed> => {
    const draft = (await ask<DraftAnswer>(flowPath(key, '/draft'))).value!
    const difference =
      search === null ? null : (await ask<DiffAnswer>(flowPath(key, `/diff?${search}`))).value
    return { etag: draft.etag, draft, difference }
  })
}
