/** Tells whoever puts the snippet on a page what they can mend, in the browser's console. */
export const warn = (what: string): void => console.warn(`cairn: ${what}`)
