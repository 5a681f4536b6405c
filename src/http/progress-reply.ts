import type { RequestContext } from './request-context.ts'
import { failure, json, type Reply, refusalOf } from './responder.ts'

/** Lines of JSON, one value each (github.com/ndjson/ndjson-spec). */
export const linesType = 'application/x-ndjson'

/** How often progress is told at most, and how long there is silence at most, milliseconds. */
const tellEveryMs = 100
const longestSilenceMs = 5_000

/** Work that tells how far it is. */
export type WorkWithProgress<Progress, Result> = (
  tell: (progress: Progress) => void,
) => Promise<Result>

/**
 * Answers what may take minutes: by its result as JSON or, to who accepts NDJSON, by lines
 * `{"progress": …}` and at last `{"result": …}`; or `{"failure": {error, code}}`, because the status is
 * gone by then. What was begun goes on when the caller has gone.
 *
 * @throws AppError where it fails before it has told of any progress
 */
export async function answerLongWork<Progress, Result>(
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
        let told: Progress | undefined
        let toldAt = 0
        const tell = () => {
          const progress = latest()
          const isDue = progress !== told || performance.now() - toldAt > longestSilenceMs
          if (progress === undefined || !isDue) return
          told = progress
          toldAt = performance.now()
          say({ progress })
        }
        // What a client has not taken yet is not added to.
        timer = setInterval(() => (controller.desiredSize ?? 0) > 0 && tell(), tellEveryMs)
        // Not handed back: a stream sends nothing until it has started.
        done
          .then(
            result => {
              if (latest() !== told) tell()
              say({ result })
            },
            error => {
              onBroken(error)
              say({ failure: JSON.parse(failure(refusalOf(error)).body as string) })
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
