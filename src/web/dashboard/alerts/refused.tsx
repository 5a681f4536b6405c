import type { Failure } from '../api/failure.ts'
import { shellWords } from '../words/shell.ts'

/** Why an action without a dialog was refused. */
export const Refused = ({ of }: { of: Failure | null }) =>
  of === null ? null : (
    <p class="problem" role="alert">
      {of.told.details?.map(({ message }) => message).join(' ') ||
        (of.status === 0 ? shellWords.states.away : of.message || shellWords.states.failedWhy)}
    </p>
  )
