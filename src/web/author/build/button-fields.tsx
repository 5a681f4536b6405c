import { buttonActions, flowKinds } from '../../../core/flow/names.ts'
import type { Button, Step } from '../../snippet/parts.ts'
import type { Startable } from '../session.ts'
import { asMeant, maxButtons } from './buttons.ts'
import { Group, Select, TextField } from './fields.tsx'
import { IconButton } from './icon.tsx'
import type { Acts } from './state.ts'
import { words } from './words.ts'

/** The flow that a button starts, by name. */
function FlowField({
  flow = '',
  startable,
  write,
}: {
  flow: string | undefined
  startable: readonly Startable[]
  write(flow: string, isTyped?: boolean): void
}) {
  // It may be one that is not published yet, or that this organisation does not have.
  const isNamed = startable.some(({ key }) => key === flow)
  const named = startable.map(({ key, name, kind }) => [key, `${name} (${flowKinds[kind]})`])
  return startable.length === 0 ? (
    <TextField
      label={words.flowKey}
      max={64}
      isNeeded
      value={flow}
      onType={typed => write(typed.trim(), true)}
    />
  ) : (
    <Select
      label={words.flow}
      value={flow}
      options={Object.fromEntries(isNamed ? named : [[flow, flow || words.chooseFlow], ...named])}
      onChange={write}
    />
  )
}

/** What visitors press below the text. */
export function ButtonFields({
  step: { key, buttons },
  startable,
  acts,
}: {
  step: Step
  startable: readonly Startable[]
  acts: Acts
}) {
  const write = (next: readonly Button[], isTyped = false) =>
    (isTyped ? acts.type : acts.propose)({
      do: 'set',
      step: key,
      field: 'buttons',
      value: next.map(asMeant),
    })
  const change = (index: number, part: Partial<Button>, isTyped = false) =>
    write(buttons.with(index, { ...buttons[index]!, ...part }), isTyped)
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
              onChange={action => {
                const [first] = startable
                const flow = action === 'start' ? (button.flow ?? first?.key) : undefined
                change(i, { action, flow })
              }}
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
            <FlowField
              flow={button.flow}
              startable={startable}
              write={(flow, isTyped) => change(i, { flow }, isTyped)}
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
