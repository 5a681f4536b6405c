/**
 * Several texts in one, each with its length in front: `<length> <text>`. Threads pass them on
 * together, because waking one costs as much as a small command.
 */

/** One text, to be appended to a message. */
export const framed = (text: string): string => `${text.length} ${text}`

/** The texts of a message. */
export function* framesIn(message: string): Iterable<string> {
  for (let at = 0; at < message.length; ) {
    const begin = message.indexOf(' ', at) + 1
    const end = begin + Number(message.slice(at, begin - 1))
    yield message.slice(begin, end)
    at = end
  }
}
