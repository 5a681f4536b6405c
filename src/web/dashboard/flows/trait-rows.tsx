import { useSignal } from '@preact/signals'
import { Button } from '../parts/button.tsx'
import { typedValue } from '../parts/format.ts'
import { TextField } from '../parts/text-field.tsx'

const shown = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

/** Traits as names with values, in rows. */
export function TraitRows({
  traits,
  onChange,
}: {
  traits: Readonly<Record<string, unknown>>
  onChange: (traits: Record<string, unknown>) => void
}) {
  const rows = useSignal(
    Object.entries(traits).map(([name, value]) => [name, shown(value)] as const),
  )
  const change = (next: typeof rows.value) => {
    rows.value = next
    const named = next.filter(([name]) => name.trim() !== '')
    onChange(Object.fromEntries(named.map(([name, text]) => [name.trim(), typedValue(text)])))
  }
  const set = (at: number, row: readonly [string, string]) => change(rows.value.with(at, row))
  return (
    <div class="stack gap-2">
      <p class="hint">Checked instead of the traits that the person last reported.</p>
      {rows.value.map(([name, value], at) => (
        <div key={at} class="row">
          <TextField
            label="Trait"
            value={name}
            maxLength={64}
            onChange={text => set(at, [text, value])}
          />
          <TextField
            label="Value"
            value={value}
            maxLength={256}
            onChange={text => set(at, [name, text])}
          />
          <Button
            aria-label={`Remove ${name || 'trait'}`}
            onClick={() => change(rows.value.toSpliced(at, 1))}
          >
            Remove
          </Button>
        </div>
      ))}
      <div>
        <Button onClick={() => (rows.value = [...rows.value, ['', '']])}>Add trait</Button>
      </div>
    </div>
  )
}
