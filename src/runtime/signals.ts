/**
 * Has something done first if one of the signals ends this process. The process still ends by that signal,
 * so that whoever waits for it sees that (a shell as status 130 for SIGINT).
 *
 * @returns a function that takes this back
 */
export function beforeSignal(signals: readonly NodeJS.Signals[], work: () => void): () => void {
  const end = (signal: NodeJS.Signals) => {
    try {
      work()
    } finally {
      takeBack()
      process.kill(process.pid, signal)
    }
  }
  const takeBack = () => {
    for (const signal of signals) process.off(signal, end)
  }
  for (const signal of signals) process.on(signal, end)
  return takeBack
}
