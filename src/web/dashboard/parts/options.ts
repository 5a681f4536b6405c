/** A thing to choose: what is stored, what people read, and more about it. */
export interface Option {
  value: string
  label: string
  note?: string
}

/** More options than this are not drawn; whoever looks for one of them types more of it. */
const maxShown = 50

/** The options with all the words that were typed, those that begin with them first. */
export function matching(options: readonly Option[], typed: string): Option[] {
  const wanted = typed.trim().toLowerCase()
  const parts = wanted.split(/\s+/).filter(Boolean)
  const found = options.filter(({ value, label, note = '' }) => {
    const text = `${label} ${note} ${value}`.toLowerCase()
    return parts.every(part => text.includes(part))
  })
  const startsWith = ({ label }: Option) => label.toLowerCase().startsWith(wanted)
  return [...found.filter(startsWith), ...found.filter(option => !startsWith(option))].slice(
    0,
    maxShown,
  )
}
