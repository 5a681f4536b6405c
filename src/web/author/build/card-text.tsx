import { useLayoutEffect, useRef } from 'preact/hooks'
import { MarkButtons, markByKey, markIn } from './mark-buttons.tsx'
import { words } from './words.ts'

/** The text of a step as it is written, in the place where visitors read it. */
export function CardText({ value, write }: { value: string; write(text: string): void }) {
  const area = useRef<HTMLTextAreaElement>(null)
  const fit = () => {
    const field = area.current!
    field.style.height = 'auto'
    field.style.height = `${field.scrollHeight}px`
  }
  useLayoutEffect(fit, [])
  const change = (text: string) => {
    area.current!.value = text
    fit()
    write(text)
  }
  return (
    <>
      {/* Tab leads on: those who use the keyboard have its shortcuts. */}
      <MarkButtons apply={mark => markIn(area.current!, mark, change)} tabIndex={-1} />
      <textarea
        ref={area}
        aria-label={words.text}
        dir="auto"
        rows={1}
        maxLength={10_000}
        defaultValue={value}
        onInput={fit}
        onKeyDown={event => markByKey(event, change)}
      />
    </>
  )
}
