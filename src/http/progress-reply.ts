import type { RequestContext } from './request-context.ts'
import { errorOf, errorResponse, json, type Reply } from './responder.ts'

/** Lines of JSON, one value each (github.com/ndjson/ndjson-spec). */
export const linesType = 'application/x-ndjson'

/** The shortest time between two reports of progress, and the longest silence, milliseconds. */
const sendEveryMs = 100
const maxSilenceMs = 5_000

/** Work that reports its progress. */
export type WorkWithProgress<Progress, Result> = (
  tell: (progress: Progress) => void,
) => Promise<Result>

/**
 * Answers a request whose work may take minutes: with the result as JSON or, if the caller accepts NDJSON,
 * with lines `{"progress": …}` and finally `{"result": …}` or `{"failure": {error, code}}`, because the
 * status has been sent by then. The work goes on even if the caller goes away.
 *
 * @throws AppError if the work fails before it has reported any progress
 */
export async function replyWithProgress<Progress, Result>(
  call: RequestContext,
  work: WorkWithProgress<Progress, Result>,
): Promise<Reply> {
  if (!call.request.headers.get('accept')?.includes(linesType)) {
    return json(200, await work(() => {}))
  }
  const begun = Promise.withResolvers<void>()
  let latest: Progress | undefined
  const done = work(progress => {
    latest = progress
    begun.resolve()
  })
  await Promise.race([begun.promise, done])
  const body = lines(() => latest, done, call.onBroken)
  return { status: 200, body, headers: { 'Content-Type': linesType } }
}

function lines<Progress, Result>(
  latest: () => Progress | undefined,
  done: Promise<Result>,
  onBroken: (error: unknown) => void,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let timer: ReturnType<typeof setInterval> | undefined
  let isGone = false
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const say = (value: object) => {
          if (!isGone) controller.enqueue(encoder.encode(`${JSON.stringify(value)}\n`))
        }
        let sent: Progress | undefined
        let sentAt = 0
        const send = () => {
          const progress = latest()
          const isDue = progress !== sent || performance.now() - sentAt > maxSilenceMs
          if (progress === undefined || !isDue) return
          sent = progress
          sentAt = performance.now()
          say({ progress })
        }
        // Backpressure: nothing is added while the client has not taken what was sent.
        timer = setInterval(() => (controller.desiredSize ?? 0) > 0 && send(), sendEveryMs)
        // The promise is not returned, because a stream sends nothing until it has started.
        done
          .then(
            result => {
              if (latest() !== sent) send()
              say({ result })
            },
            error => {
              onBroken(error)
              say({ failure: JSON.parse(errorResponse(errorOf(error)).body as string) })
            },
          )
          .finally(() => {
            clearInterval(timer)
            if (!isGone) controller.close()
          })
      },
      cancel() {
        isGone = true
        clearInterval(timer)
      },
    },
    { highWaterMark: 64 },
  )
}
