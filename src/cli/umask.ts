/** What the user's own files deny to others, as their shell says. */
let ofUser = 0

/** From now on, all that is written belongs to the user alone: it is Cairn's own data. */
export function keepPrivate(): void {
  ofUser = process.umask(0o077)
}

/** Writes files that are the user's, such as those of a repository, with the rights they ask for. */
export function asUsers<Result>(write: () => Result): Result {
  const ours = process.umask(ofUser)
  try {
    return write()
  } finally {
    process.umask(ours)
  }
}
