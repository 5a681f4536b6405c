import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { Icon } from './icon.tsx'

const shownMs = 4_000
const copied = 'Copied'

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
  const statusText = useSignal('')
  useEffect(() => {
    if (statusText.value === '') return
    const timer = setTimeout(() => (statusText.value = ''), shownMs)
    return () => clearTimeout(timer)
  }, [statusText.value])
  return (
    <div class="code line start">
      <pre>
        <code ref={element}>{text}</code>
      </pre>
      <button
        type="button"
        class="button"
        aria-label={`Copy: ${name}`}
        onClick={async () => {
          statusText.value = (await copy(text, element.current!))
            ? copied
            : 'Selected: press Ctrl C'
        }}
      >
        <Icon name={statusText.value === copied ? 'done' : 'copy'} />
        <span role="status">{statusText.value || 'Copy'}</span>
      </button>
    </div>
  )
}
