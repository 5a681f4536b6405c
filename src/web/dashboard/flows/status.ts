import type { AuthoredFlow } from '../../../modules/authoring/schema.ts'
import type { Tone } from '../parts/badge.tsx'

/** The status of a flow in one word. @param isStalled whether it is published, and nobody met it in 7 days */
export function statusOf(
  { status, version }: Pick<AuthoredFlow, 'status' | 'version'>,
  isStalled = false,
): readonly [tone: Tone, name: string] {
  if (status === 'archived') return ['neutral', 'Archived']
  if (status === 'draft') return ['neutral', version === null ? 'Draft' : 'Unpublished']
  return isStalled ? ['warn', 'Stalled'] : ['good', 'Published']
}
