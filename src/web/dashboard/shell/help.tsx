import { Switch } from '../parts/choice.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { opened } from './keyboard.ts'
import { routes } from './routes.ts'
import { hasLetters } from './settings.ts'

/** The keyboard shortcuts, and the switch that turns single letters off. */
export default function Help() {
  const pages = routes.filter(({ nav }) => nav?.letter)
  return (
    <Dialog title="Keyboard shortcuts" onClose={() => (opened.value = null)}>
      <dl class="receipt">
        <dt>
          <kbd>Ctrl</kbd> <kbd>K</kbd>
        </dt>
        <dd>Search pages, flows and people</dd>
        {hasLetters.value && (
          <>
            {pages.map(({ name, nav }) => (
              <>
                <dt key={name}>
                  <kbd>g</kbd> then <kbd>{nav!.letter}</kbd>
                </dt>
                <dd>Go to {name}</dd>
              </>
            ))}
            <dt>
              <kbd>?</kbd>
            </dt>
            <dd>Show these shortcuts</dd>
          </>
        )}
      </dl>
      <Switch
        label="Single-letter shortcuts"
        note="Turn off if you use dictation or press keys by accident."
        checked={hasLetters.value}
        onChange={checked => (hasLetters.value = checked)}
      />
    </Dialog>
  )
}
