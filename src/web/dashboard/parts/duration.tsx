import { formatSeconds } from '../words/time.ts'

/** How long something took: isolated, because a right-to-left page would reverse it. */
export const Duration = ({ seconds }: { seconds: number | null }) => (
  <bdi>{formatSeconds(seconds)}</bdi>
)
