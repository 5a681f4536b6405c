import { useRef } from 'preact/hooks'
import { isSame } from '../../../../core/flow/edit/source.ts'

/**
 * What somebody types, where it means a value that could be written otherwise: it stays as it was
 * typed for as long as it means what the file says.
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
