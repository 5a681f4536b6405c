import type { Me } from '../../../../modules/access/schema.ts'
import type { Analytics } from '../../../../modules/analytics/schema.ts'
import { never, useRead } from '../../api/read.ts'
import { type FlowList, flowsPath } from '../../flows/flow-list.ts'

/** The traits that the organisation has listed in its settings. */
export const useTraits = (): readonly string[] =>
  useRead<Me>('/manage/me', never).data?.traits ?? []

/** Values of a listed trait, as runs of the flow that was published last have it. */
export function useTraitValues(trait: string): string[] {
  const isListed = useTraits().includes(trait)
  const { data } = useRead<FlowList>(isListed ? flowsPath : null)
  const [newest] = (data?.flows ?? [])
    .filter(({ publishedAt }) => publishedAt !== null)
    .toSorted((a, b) => (a.publishedAt! < b.publishedAt! ? 1 : -1))
  const query = new URLSearchParams({ segment: trait })
  const path = isListed && newest ? `/flows/${newest.id}/analytics?${query}` : null
  const segments = useRead<Analytics>(path, never).data?.segments ?? []
  return segments.flatMap(({ value }) => (value ? [value] : []))
}
