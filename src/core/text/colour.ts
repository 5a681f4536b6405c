/** Whether output to a terminal may be coloured: see https://no-color.org. */
export function wantsColour(
  stream: { isTTY?: boolean },
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  return stream.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb'
}

/** Codes of ECMA-48, "select graphic rendition". */
const codes = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const

export type Colour = keyof typeof codes

export const painted = (text: string, colour: Colour) => `\x1b[${codes[colour]}m${text}\x1b[0m`
