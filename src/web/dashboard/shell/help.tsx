import { Check } from '../parts/choice.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { shellWords as words } from '../words/shell.ts'
import { opened } from './keyboard.ts'
import { routes } from './routes.ts'
import { hasLetters } from './settings.ts'

/** The keyboard shortcuts, and the switch that turns single letters off. */
export function Help() {
  const pages = routes.filter(({ nav }) => nav?.letter)
  return (
    <Dialog title={words.shortcuts} onClose={() => (opened.value = null)}>
      <dl class="shortcuts">
        <dt>
          <kbd>Ctrl</kbd> <kbd>K</kbd>
        </dt>
        <dd>{words.shortcutJump}</dd>
        {hasLetters.value && (
          <>
            {pages.map(({ name, nav }) => (
              <>
                <dt key={name}>
                  <kbd>g</kbd> {words.andThen} <kbd>{nav!.letter}</kbd>
                </dt>
                <dd>{words.shortcutGo(name)}</dd>
              </>
            ))}
            <dt>
              <kbd>?</kbd>
            </dt>
            <dd>{words.shortcutHelp}</dd>
          </>
        )}
      </dl>
      <Check
        label={words.letters}
        note={words.lettersWhy}
        checked={hasLetters.value}
        onChange={checked => (hasLetters.value = checked)}
      />
    </Dialog>
  )
}
