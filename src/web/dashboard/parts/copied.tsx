import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { settingsWords as words } from '../words/settings.ts'
import { Button } from './button.tsx'

/** A text that somebody takes elsewhere, such as a key; without a clipboard it is selected. */
export function Copied({ text, name }: { text: string; name: string }) {
  const shown = useRef<HTMLElement>(null)
  const said = useSignal('')
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      said.value = words.copied
    } catch {
      getSelection()?.selectAllChildren(shown.current!)
      said.value = words.notCopied
    }
  }
  return (
    <div class="copied">
      <code ref={shown}>{text}</code>
      <Button onClick={copy} aria-label={`${words.copy} ${name}`}>
        {words.copy}
      </Button>
      <span class="hint" role="status">
        {said.value}
      </span>
    </div>
  )
}
