let isOpen = false

/** Shows the progress of long work: on a terminal in one line that is overwritten, elsewhere line by line. */
export function progress(text: string): void {
  isOpen = process.stderr.isTTY
  process.stderr.write(isOpen ? `\r\u001b[Kcairn: ${text}` : `cairn: ${text}\n`)
}

/** Says what begins now, on a new line below any progress shown before. */
export function begin(text: string): void {
  process.stderr.write(`${isOpen ? '\n' : ''}cairn: ${text}\n`)
  isOpen = false
}
