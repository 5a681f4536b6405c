import { useSignal } from '@preact/signals'
import { useCallback, useEffect } from 'preact/hooks'
import type { DraftAnswer } from '../../../modules/authoring/model.ts'
import { Failure } from '../api/failure.ts'
import { ask } from '../api/request.ts'
import { flowPath } from '../flows/definition.ts'
import type { DiffAnswer } from './difference.tsx'

/** What somebody looks at before it is changed. */
export interface Reviewed {
  /** Of the draft that the difference is of, or of an older one: then the change is refused. */
  etag: string
  draft: DraftAnswer
  /** Null where there is nothing to compare with. */
  difference: DiffAnswer | null
}

/**
 * Reads what is to be looked at before a flow is changed: its draft, and what would change. The draft
 * is read first, so that its ETag is never newer than what is shown.
 *
 * @param query of the difference; null where there is none
 */
export function useReviewed(key: string, query: Record<string, string> | null) {
  const reviewed = useSignal<Reviewed | null>(null)
  const failure = useSignal<Failure | null>(null)
  const asked = query && `${new URLSearchParams(query)}`
  const again = useCallback(async () => {
    try {
      failure.value = null
      const draft = (await ask<DraftAnswer>(flowPath(key, '/draft'))).value!
      const difference =
        asked === null ? null : (await ask<DiffAnswer>(flowPath(key, `/diff?${asked}`))).value
      reviewed.value = { etag: draft.etag, draft, difference }
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      failure.value = error
    }
  }, [key, asked])
  useEffect(() => void again(), [again])
  return { reviewed, failure, again }
}
