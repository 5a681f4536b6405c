const maxShown = 60

/** Somebody else's text in a message: cut, and without anything that could move a terminal's cursor. */
export function shown(text: string, most = maxShown): string {
  // Cut roughly first, so that no more of a long text is processed than can be shown.
  const symbols = [...text.slice(0, 2 * most + 2).toWellFormed()]
  const kept = symbols.length > most ? [...symbols.slice(0, most - 1), '…'] : symbols
  return kept.join('').replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '�')
}

/** The same in quotes. */
export const quoted = (text: string) => `"${shown(text)}"`

/** A text as one word of a shell command. */
export const shellWord = (text: string) =>
  /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`

/** The JSON pointer (RFC 6901) of a field. A name that flows do not have is cut as in messages. */
export function below(path: string, name: string): string {
  return `${path}/${shown(name).replaceAll('~', '~0').replaceAll('/', '~1')}`
}

/** What to do about a field that does not exist. */
export function unknownField(name: string, names: string[]): string {
  // YAML 1.1 had merge keys. The parser reads YAML 1.2, in which this is a name like any other.
  if (name === '<<') return 'Merge keys (<<) are not supported: write the fields out'
  const hint = didYouMean(name, names)
  if (hint !== '') return `There is no field ${quoted(name)}${hint}`
  return `There is no field ${quoted(name)}: remove it, or use one of ${names.join(', ')}`
}

/** The word that was probably meant, as the end of a sentence, or an empty text. */
export function didYouMean(word: string, words: string[]): string {
  const near = nearest(word, words)
  return near === null ? '' : `: did you mean ${quoted(near)}?`
}

/** The word that was probably meant, or null. */
export function nearest(word: string, words: string[]): string | null {
  if (word.length > 2 * maxShown) return null
  const near = words
    .map(candidate => ({
      candidate,
      edits: editDistance(word.toLowerCase(), candidate.toLowerCase()),
    }))
    .filter(({ candidate, edits }) => edits <= Math.max(1, Math.floor(candidate.length / 3)))
    .sort((a, b) => a.edits - b.edits)[0]
  return near?.candidate ?? null
}

/** The number of letters to insert, delete, replace or swap with their neighbour (optimal string alignment). */
function editDistance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, index) => index)]
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      row[j] = Math.min(
        rows[i - 1]![j]! + 1,
        row[j - 1]! + 1,
        rows[i - 1]![j - 1]! + Number(a[i - 1] !== b[j - 1]),
        swapped ? rows[i - 2]![j - 2]! + 1 : Infinity,
      )
    }
    rows.push(row)
  }
  return rows[a.length]![b.length]!
}
