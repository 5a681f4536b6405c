import Fastify from 'fastify'

/**
 * `POST /` for batches of events, answered once `store` has committed them together with all that came
 * before its turn. No credential, no limit, no check.
 *
 * @param store takes a row for each event, as the columns are in the table of the floor
 * @param mostAtOnce commits under way at once
 */
export async function serve(store, mostAtOnce) {
  let waiting = []
  let underWay = 0

  async function commit() {
    const group = waiting
    waiting = []
    underWay++
    try {
      await store(group.flatMap(({ rows }) => rows))
      for (const { resolve } of group) resolve()
    } catch (error) {
      for (const { reject } of group) reject(error)
    }
    underWay--
    if (waiting.length > 0) setImmediate(commit)
  }

  const stored = rows =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0 && underWay < mostAtOnce) setImmediate(commit)
      waiting.push({ rows, resolve, reject })
    })

  const app = Fastify()
  app.post('/', async (request, reply) => {
    const { events } = request.body
    // Organisations are told apart by their key's last characters: any integer will do.
    const org = Number.parseInt(request.headers.authorization.slice(-6), 36)
    const now = Date.now()
    await stored(events.map(event => rowOf(org, event, now)))
    reply.code(202)
    return { accepted: events.length }
  })
  console.log(`serving ${await app.listen({ host: '127.0.0.1', port: 0 })}`)
}

const rowOf = (org, e, receivedAt) => [
  org,
  e.id,
  e.kind,
  e.userId,
  e.flowId,
  e.flowVersion,
  e.stepId ?? null,
  e.runId,
  e.sessionId,
  e.occurredAt,
  receivedAt,
  e.url,
  e.properties ? JSON.stringify(e.properties) : null,
]
