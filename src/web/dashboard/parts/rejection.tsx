import { explained } from '../api/explained.ts'
import type { Failure } from '../api/failure.ts'

/** What an engineer needs of a failure: code, request ID and the server's own sentence. */
export function FailureDetails({ failure }: { failure: Failure }) {
  const { code, requestId, details } = failure.response
  if (failure.status === 0) return null
  return (
    <details class="fine break">
      <summary>Details</summary>
      <p>
        {failure.message} <code>{code ?? failure.status}</code>
      </p>
      {details?.map(({ path, message }) => (
        <p key={path}>
          <code>{path.slice(1)}</code> {message}
        </p>
      ))}
      {requestId && (
        <p>
          Request ID <code>{requestId}</code>
        </p>
      )}
    </details>
  )
}

/** Why an action was rejected, and what to do. Shows nothing if it was not. */
export function Rejection({ failure }: { failure: Failure | null }) {
  if (failure === null) return null
  return (
    <div class="problem" role="alert">
      <p>{explained(failure)}</p>
      <FailureDetails failure={failure} />
    </div>
  )
}
