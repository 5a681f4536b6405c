import { useSignal } from '@preact/signals'
import { useCallback, useEffect } from 'preact/hooks'
import { Failure } from './failure.ts'

/** Reads something once, and again when told to or when the key is another one. */
export function useOnce<T>(key: string, read: () => Promise<T>) {
  const value = useSignal<T | null>(null)
  const failure = useSignal<Failure | null>(null)
  const again = useCallback(async () => {
    try {
      failure.value = null
      value.value = await read()
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      failure.value = error
    }
  }, [key])
  useEffect(() => void again(), [again])
  return { value: value.value, failure: failure.value, again }
}
