let isOpen = false

/** Tells how far long work is: on a terminal one line, written over; elsewhere a line each. */
export function progress(text: string): void {
  isOpen = process.stderr.isTTY
  process.stderr.write(isOpen ? `\r\u001b[Kcairn: ${text}` : `cairn: ${text}\n`)
}

/** Tells what begins now, below whatever progress was told before. */
export function begin(text: string): void {
  process.stderr.write(`${isOpen ? '\n' : ''}cairn: ${text}\n`)
  isOpen = false
}
