/** The files of a data directory that nodes share: see `kept_files`. */
export const keptNames = (names: readonly string[]): string[] =>
  names.filter(name => /^(session\.key|snippet\/snippet-[\w-]+\.js)$/.test(name))
