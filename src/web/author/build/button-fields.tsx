import { buttonActions } from '../../../core/flow/names.ts'
import type { Button, Step } from '../../snippet/parts.ts'
import { asMeant, maxButtons } from './buttons.ts'
import { Group, Select, TextField } from './fields.tsx'
import { IconButton } from './icon.tsx'
import type { Acts } from './state.ts'
import { words } from './words.ts'

/** What visitors press below the text. */
export function ButtonFields({ step: { key, buttons }, acts }: { step: Step; acts: Acts }) {
  const write = (next: readonly Button[], isTyped = false) =>
    (isTyped ? acts.type : acts.propose)({
      do: 'set',
      step: key,
      field: 'buttons',
      value: next.map(asMeant),
    })
  const change = (index: number, part: Partial<Button>, isTyped = false) =>
    write(buttons.with(index, { ...buttons[index]!, ...part }), isTyped)
  // Which flow a button starts is chosen in the form.
  const actions = Object.keys(buttonActions) as Button['action'][]
  return (
    <Group title={words.buttons}>
      {buttons.length === 0 && <p class="hint">{words.buttonsEmpty}</p>}
      {buttons.map((button, i) => (
        <div class="row" key={i}>
          <div class="pair">
            <TextField
              label={words.label}
              max={100}
              isNeeded
              value={button.label}
              onType={label => change(i, { label }, true)}
            />
            <Select
              label={words.action}
              value={button.action}
              options={buttonActions}
              only={actions.filter(action => action !== 'start' || action === button.action)}
              onChange={action => change(i, { action })}
            />
          </div>
          {button.action === 'link' && (
            <TextField
              label={words.href}
              max={2_048}
              isNeeded
              value={button.href ?? ''}
              onType={href => change(i, { href: href.trim() }, true)}
            />
          )}
          {button.action === 'start' && (
            <TextField
              label={words.flow}
              max={100}
              isNeeded
              value={button.flow ?? ''}
              onType={flow => change(i, { flow: flow.trim() }, true)}
            />
          )}
          <IconButton
            icon="delete"
            label={`${words.remove}: ${button.label}`}
            onClick={() => write(buttons.toSpliced(i, 1))}
          />
        </div>
      ))}
      {buttons.length < maxButtons && (
        <button
          type="button"
          class="plain"
          onClick={() =>
            write([...buttons, { label: words.newButton, action: 'next', href: null }])
          }
        >
          {words.addButton}
        </button>
      )}
    </Group>
  )
}
