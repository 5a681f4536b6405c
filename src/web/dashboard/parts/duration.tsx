import { formatSeconds } from '../words/time.ts'

/** How long something took: isolated, because a page that is read from the right would turn it round. */
export const Duration = ({ seconds }: { seconds: number | null }) => (
  <bdi>{formatSeconds(seconds)}</bdi>
)
