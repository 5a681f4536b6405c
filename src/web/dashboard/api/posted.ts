import { batch, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { Failure } from './failure.ts'
import type { Read } from './read.ts'
import { ask } from './request.ts'
import { presence } from './session.ts'

/**
 * Asks questions by POST that change nothing: once, and again if somebody wants that or has signed in
 * again. The previous answers stay until the new ones have come.
 *
 * @param path below `/api/v1`
 * @param bodies null if there is nothing to ask yet
 */
export function usePosted<T>(path: string, bodies: readonly unknown[] | null): Read<T[]> {
  const data = useSignal<T[] | null>(null)
  const failure = useSignal<Failure | null>(null)
  const at = useSignal<number | null>(null)
  const answered = useSignal<string | null>(null)
  const turn = useSignal(0)
  const question = bodies && JSON.stringify(bodies)
  useEffect(() => {
    if (bodies === null) return
    const stop = new AbortController()
    const { signal } = stop
    const responses = bodies.map(body => ask<T>(path, { method: 'POST', body, signal }))
    Promise.all(responses)
      .then(answers =>
        batch(() => {
          data.value = answers.map(({ value }) => value as T)
          failure.value = null
          at.value = Date.now()
          answered.value = question
        }),
      )
      .catch(error => {
        if (signal.aborted) return
        if (!(error instanceof Failure)) throw error
        failure.value = error
      })
    return () => stop.abort()
  }, [path, question, turn.value])
  const again = () => {
    turn.value++
  }
  useEffect(() => presence.subscribe(state => state === 'in' && failure.peek() && again()), [])
  return {
    data: data.value,
    failure: failure.value,
    at: at.value,
    isOld: data.value !== null && answered.value !== question,
    again,
  }
}
