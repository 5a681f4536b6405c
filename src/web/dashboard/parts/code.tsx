import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { shellWords as words } from '../words/shell.ts'
import { Icon } from './icon.tsx'

const saidMs = 4_000

/** Copies a text. Over plain http there is no clipboard to write to, so the browser copies a selection. */
async function copy(text: string, element: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    getSelection()?.selectAllChildren(element)
    return document.execCommand('copy')
  }
}

/** Lines to use somewhere else, with a button that copies them. */
export function Code({ name, children: text }: { name: string; children: string }) {
  const element = useRef<HTMLElement>(null)
  const said = useSignal('')
  useEffect(() => {
    if (said.value === '') return
    const timer = setTimeout(() => (said.value = ''), saidMs)
    return () => clearTimeout(timer)
  }, [said.value])
  return (
    <div class="code">
      <pre>
        <code ref={element}>{text}</code>
      </pre>
      <button
        type="button"
        class="button"
        aria-label={words.copyNamed(name)}
        onClick={async () => {
          said.value = (await copy(text, element.current!)) ? words.copied : words.copySelf
        }}
      >
        <Icon name={said.value === words.copied ? 'done' : 'copy'} />
        <span role="status">{said.value || words.copy}</span>
      </button>
    </div>
  )
}
