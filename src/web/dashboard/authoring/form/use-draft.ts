import { useRef } from 'preact/hooks'
import { isSame } from '../../../../core/flow/edit/source.ts'

/**
 * The text that somebody types for a value that could be written in several ways. It stays as typed
 * for as long as it means the same as the file.
 */
export function useDraft<Value>(
  value: Value,
  format: (value: Value) => string,
  parse: (text: string) => Value,
): [text: string, take: (text: string) => Value] {
  const draft = useRef<string | null>(null)
  const isKept = draft.current !== null && isSame(parse(draft.current), value)
  const take = (text: string) => {
    draft.current = text
    return parse(text)
  }
  return [isKept ? draft.current! : format(value), take]
}
